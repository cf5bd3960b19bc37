package simulator

import (
	"fmt"
	"net/netip"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// cloudInitEndpoints show what a machine's cloud-init drive holds. Source: qemu-server src/PVE/QemuServer/Cloudinit.pm.
func cloudInitEndpoints() []*endpoint {
	audit := need("/vms/{vmid}", "VM.Audit")
	return []*endpoint{
		on("GET /nodes/{node}/qemu/{vmid}/cloudinit", audit, "", (*call).cloudInitPending),
		on("PUT /nodes/{node}/qemu/{vmid}/cloudinit", need("/vms/{vmid}", "VM.Config.Cloudinit"), "", (*call).regenerate),
		on("GET /nodes/{node}/qemu/{vmid}/cloudinit/dump", audit, "type* enum(user network meta)", (*call).cloudInitDump),
	}
}

// cloudInitOptions are those that the drive is made of, besides the network's.
var cloudInitOptions = strings.Fields("cicustom cipassword citype ciupgrade ciuser nameserver searchdomain sshkeys")

func (c *call) cloudInitPending() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, option := range cloudInitOptions {
		if v, ok := g.conf[option]; ok {
			rows = append(rows, row{"key": option, "value": g.shown(option, v)})
		}
	}
	return rows, nil
}

func (c *call) regenerate() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	return nil, c.unlocked(g)
}

func (c *call) cloudInitDump() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	switch c.text("type") {
	case "network":
		return networkData(g.conf), nil
	case "meta":
		return "instance-id: " + digestText(userData(g)+networkData(g.conf)) + "\n", nil
	}
	return userData(g), nil
}

func userData(g *guest) string {
	host := or(g.name(), "VM"+itoa(g.vmid))
	fqdn := host
	if d := g.conf["searchdomain"]; d != "" && !strings.Contains(host, ".") {
		fqdn = host + "." + d
	}
	host, _, _ = strings.Cut(host, ".")
	var b strings.Builder
	fmt.Fprintf(&b, "#cloud-config\nhostname: %s\nmanage_etc_hosts: true\nfqdn: %s\n", host, fqdn)
	if u := g.conf["ciuser"]; u != "" {
		fmt.Fprintf(&b, "user: %s\n", u)
	}
	if p := g.conf["cipassword"]; p != "" {
		fmt.Fprintf(&b, "password: $5$simulated$%s\n", digestText(p))
	}
	if keys := g.conf["sshkeys"]; keys != "" {
		b.WriteString("ssh_authorized_keys:\n")
		for _, k := range strings.Split(strings.TrimSpace(unescape(keys)), "\n") {
			fmt.Fprintf(&b, "  - %s\n", k)
		}
	}
	b.WriteString("chpasswd:\n  expire: False\nusers:\n  - default\n")
	if g.conf["ciupgrade"] != "0" {
		b.WriteString("package_upgrade: true\n")
	}
	return b.String()
}

// networkData is the network configuration, version 1.
func networkData(conf map[string]string) string {
	var b strings.Builder
	b.WriteString("version: 1\nconfig:\n")
	n := 0
	for i := range 32 {
		card, err := guestconf.FormatOf("net0").ParseProperties("net", conf["net"+itoa(i)])
		if err != nil || conf["net"+itoa(i)] == "" {
			continue
		}
		fmt.Fprintf(&b, "    - type: physical\n      name: eth%d\n      mac_address: '%s'\n      subnets:\n", n, strings.ToLower(card.Values["macaddr"]))
		n++
		if ip, err := schema.Format("ipconfig").ParseProperties("ipconfig", conf["ipconfig"+itoa(i)]); err == nil {
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
