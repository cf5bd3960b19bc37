package nocloud

import (
	"fmt"
	"net/netip"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

// Interface is one network card as network-config wants it.
type Interface struct {
	Name      string
	MAC       string         // of the card it is for; empty when it matches by name
	Addresses []netip.Prefix // fixed ones
	MTU       int            // bytes; 0 = the card's default
}

// networkConfig is version 2 of the format. Upstream:
// https://cloudinit.readthedocs.io/en/latest/reference/network-config-format-v2.html
type networkConfig struct {
	Version   int                 `json:"version"`
	Ethernets map[string]ethernet `json:"ethernets"`
}

type ethernet struct {
	Match struct {
		MACAddress string `json:"macaddress"`
	} `json:"match"`
	Addresses []string `json:"addresses"`
	MTU       int      `json:"mtu"`
}

// DecodeNetworkConfig reads a network-config file, version 2 with or without the outer key "network". The interfaces are
// sorted by name. An empty version 1 file, which capmox writes for other formats, has none.
func DecodeNetworkConfig(data []byte) ([]Interface, error) {
	var outer struct {
		networkConfig
		Network *networkConfig `json:"network"`
	}
	if err := yaml.Unmarshal(data, &outer); err != nil {
		return nil, fmt.Errorf("decode network-config: %w", err)
	}
	config := outer.networkConfig
	if outer.Network != nil {
		config = *outer.Network
	}
	if config.Version != 1 && config.Version != 2 {
		return nil, fmt.Errorf("decode network-config: version %d is not known", config.Version)
	}
	var interfaces []Interface
	for name, wire := range config.Ethernets {
		i, err := newInterface(name, wire)
		if err != nil {
			return nil, fmt.Errorf("decode network-config: %s: %w", name, err)
		}
		interfaces = append(interfaces, i)
	}
	sort.Slice(interfaces, func(a, b int) bool { return interfaces[a].Name < interfaces[b].Name })
	return interfaces, nil
}

func newInterface(name string, wire ethernet) (Interface, error) {
	i := Interface{Name: name, MAC: wire.Match.MACAddress, MTU: wire.MTU}
	for _, a := range wire.Addresses {
		prefix, err := netip.ParsePrefix(a)
		if err != nil {
			return Interface{}, err
		}
		i.Addresses = append(i.Addresses, prefix)
	}
	return i, nil
}

// Configured returns the interfaces whose card the machine has. Cards are told apart by MAC address, in any case.
func Configured(interfaces []Interface, macs []string) []Interface {
	var found []Interface
	for _, i := range interfaces {
		for _, mac := range macs {
			if strings.EqualFold(mac, i.MAC) {
				found = append(found, i)
				break
			}
		}
	}
	return found
}
