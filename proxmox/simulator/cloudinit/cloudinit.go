// Package cloudinit writes what a machine's cloud-init drive holds: user, network and meta data as Proxmox VE makes them of the
// machine's options.
//
// Source: qemu-server src/PVE/QemuServer/Cloudinit.pm.
package cloudinit

import (
	"crypto/sha1" //nolint:gosec // Proxmox VE's digests are SHA-1
	"encoding/hex"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	_ "kubehenge.dev/proxmox/simulator/guestconf" // defines the formats of options
	"kubehenge.dev/proxmox/simulator/schema"
)

// UserData is who a machine is and who may sign in.
func UserData(host string, conf map[string]string) string {
	fqdn := host
	if d := conf["searchdomain"]; d != "" && !strings.Contains(host, ".") {
		fqdn = host + "." + d
	}
	host, _, _ = strings.Cut(host, ".")
	var b strings.Builder
	fmt.Fprintf(&b, "#cloud-config\nhostname: %s\nmanage_etc_hosts: true\nfqdn: %s\n", host, fqdn)
	if u := conf["ciuser"]; u != "" {
		fmt.Fprintf(&b, "user: %s\n", u)
	}
	if p := conf["cipassword"]; p != "" {
		fmt.Fprintf(&b, "password: $5$simulated$%s\n", digest(p))
	}
	if keys := conf["sshkeys"]; keys != "" {
		b.WriteString("ssh_authorized_keys:\n")
		for _, k := range strings.Split(strings.TrimSpace(unescape(keys)), "\n") {
			fmt.Fprintf(&b, "  - %s\n", k)
		}
	}
	b.WriteString("chpasswd:\n  expire: False\nusers:\n  - default\n")
	if conf["ciupgrade"] != "0" {
		b.WriteString("package_upgrade: true\n")
	}
	return b.String()
}

// MetaData names the machine as long as its data stay the same.
func MetaData(host string, conf map[string]string) string {
	return "instance-id: " + digest(UserData(host, conf)+NetworkData(conf)) + "\n"
}

func digest(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

// unescape undoes the percent encoding of keys.
func unescape(text string) string {
	if u, err := url.PathUnescape(text); err == nil {
		return u
	}
	return text
}

// NetworkData is the network configuration, version 1.
func NetworkData(conf map[string]string) string {
	var b strings.Builder
	b.WriteString("version: 1\nconfig:\n")
	n := 0
	for i := range 32 {
		card, err := schema.Format("net").ParseProperties("net", conf["net"+strconv.Itoa(i)])
		if err != nil || conf["net"+strconv.Itoa(i)] == "" {
			continue
		}
		fmt.Fprintf(&b, "    - type: physical\n      name: eth%d\n      mac_address: '%s'\n      subnets:\n", n, strings.ToLower(card.Values["macaddr"]))
		n++
		if ip, err := schema.Format("ipconfig").ParseProperties("ipconfig", conf["ipconfig"+strconv.Itoa(i)]); err == nil {
			b.WriteString(subnet(ip.Values["ip"], ip.Values["gw"], "dhcp4"))
			b.WriteString(subnet(ip.Values["ip6"], ip.Values["gw6"], "dhcp6"))
		}
	}
	if dns, search := schema.SplitList(conf["nameserver"]), schema.SplitList(conf["searchdomain"]); len(dns)+len(search) > 0 {
		b.WriteString("    - type: nameserver\n      address:\n")
		for _, a := range dns {
			fmt.Fprintf(&b, "      - '%s'\n", a)
		}
		b.WriteString("      search:\n")
		for _, d := range search {
			fmt.Fprintf(&b, "      - '%s'\n", d)
		}
	}
	return b.String()
}

func subnet(address, gateway, dhcp string) string {
	switch address {
	case "":
		return ""
	case "dhcp":
		return "      - type: " + dhcp + "\n"
	case "auto":
		return "      - type: ipv6_slaac\n"
	}
	p, err := netip.ParsePrefix(address)
	if err != nil {
		return ""
	}
	text := "      - type: static\n        address: '" + p.Addr().String() + "'\n        netmask: '" + netmask(p) + "'\n"
	if p.Addr().Is6() {
		text = "      - type: static6\n        address: '" + address + "'\n"
	}
	if gateway != "" {
		text += "        gateway: '" + gateway + "'\n"
	}
	return text
}

func netmask(p netip.Prefix) string {
	bits := ^uint32(0) << (32 - min(p.Bits(), 32))
	if p.Bits() == 0 {
		bits = 0
	}
	return fmt.Sprintf("%d.%d.%d.%d", bits>>24, bits>>16&255, bits>>8&255, bits&255)
}
