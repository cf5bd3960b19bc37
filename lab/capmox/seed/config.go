package seed

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// Identity is who the VM is.
type Identity struct {
	InstanceID        string // the VM's SMBIOS UUID
	Hostname          string
	ProviderID        bool   // add provider-id
	KubernetesVersion string // empty leaves it out
}

// MetaData renders meta-data.
func MetaData(id Identity) ([]byte, error) {
	switch "" {
	case id.Hostname:
		return nil, errors.New("hostname is not set")
	case id.InstanceID:
		return nil, errors.New("instance-id is not set")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "instance-id: %s\nlocal-hostname: %s\nhostname: %s\n", id.InstanceID, id.Hostname, id.Hostname)
	if id.ProviderID {
		fmt.Fprintf(&b, "provider-id: proxmox://%s\n", id.InstanceID)
	}
	if id.KubernetesVersion != "" {
		fmt.Fprintf(&b, "kubernetes-version: %s\n", id.KubernetesVersion)
	}
	return []byte(b.String()), nil
}

// Card is one network card.
type Card struct {
	Name      string // eth0, ...
	MAC       string
	Addresses []netip.Prefix
	Gateways  []Gateway
	DNS       []string
}

// Gateway is a default route.
type Gateway struct {
	Via    netip.Addr
	Metric *int32
}

// NetworkConfig renders network-config in netplan's version 2. A machine without any default gateway is refused,
// as are two default routes of one family with the same metric.
func NetworkConfig(cards []Card) ([]byte, error) {
	if err := checkRoutes(cards); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("network:\n  version: 2\n  renderer: networkd\n  ethernets:\n")
	for _, c := range cards {
		fmt.Fprintf(&b, "    %s:\n      match:\n        macaddress: %s\n      dhcp4: false\n      dhcp6: false\n", c.Name, c.MAC)
		writeList(&b, "addresses", c.Addresses)
		writeRoutes(&b, c.Gateways)
		if len(c.DNS) > 0 {
			b.WriteString("      nameservers:\n        addresses:\n")
			for _, d := range c.DNS {
				fmt.Fprintf(&b, "          - '%s'\n", d)
			}
		}
	}
	return []byte(b.String()), nil
}

func writeList(b *strings.Builder, key string, prefixes []netip.Prefix) {
	if len(prefixes) == 0 {
		return
	}
	fmt.Fprintf(b, "      %s:\n", key)
	for _, p := range prefixes {
		fmt.Fprintf(b, "        - '%s'\n", p)
	}
}

func writeRoutes(b *strings.Builder, gateways []Gateway) {
	if len(gateways) == 0 {
		return
	}
	b.WriteString("      routes:\n")
	for _, g := range gateways {
		fmt.Fprintf(b, "        - {\"to\": \"%s\", \"via\": \"%s\"", everywhere(g.Via), g.Via)
		if g.Metric != nil {
			fmt.Fprintf(b, ", \"metric\": %d", *g.Metric)
		}
		b.WriteString("}\n")
	}
}

func everywhere(via netip.Addr) netip.Prefix {
	if via.Is6() {
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
}

func checkRoutes(cards []Card) error {
	if len(cards) == 0 {
		return errors.New("network config data is not set")
	}
	seen := map[string]bool{}
	for _, c := range cards {
		for _, g := range c.Gateways {
			metric := int32(0)
			if g.Metric != nil {
				metric = *g.Metric
			}
			key := fmt.Sprintf("%s %d", everywhere(g.Via), metric)
			if seen[key] {
				return errors.New("route already exists for destination/metric in routing table")
			}
			seen[key] = true
		}
	}
	if len(seen) == 0 {
		return errors.New("gateway is not set")
	}
	return nil
}
