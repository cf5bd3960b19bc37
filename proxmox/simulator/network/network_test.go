package network

import (
	"strings"
	"testing"
)

func TestChangesWaitUntilTheyAreApplied(t *testing.T) {
	c := New([]string{"vmbr0"}, "192.0.2.1/24")
	if field, text := c.Create("vmbr1", Iface{"type": "bridge", "cidr": "198.51.100.1/25", "bridge_ports": "eth1"}); field != "" {
		t.Fatal(field, text)
	}
	if len(c.Bridges()) != 1 || c.Active("vmbr1") || !strings.Contains(c.Changes(), "+vmbr1 cidr 198.51.100.1/25") {
		t.Errorf("before: %v\n%s", c.Bridges(), c.Changes())
	}
	c.Apply()
	if len(c.Bridges()) != 2 || c.Changes() != "" || c.Ifaces()["vmbr1"]["netmask"] != "25" {
		t.Errorf("after: %v %v", c.Bridges(), c.Ifaces())
	}
	if field, text := c.Update("vmbr1", Iface{"type": "bridge", "address": "198.51.100.2", "netmask": "255.255.255.0"}, []string{"cidr"}); field != "" {
		t.Fatal(field, text)
	}
	if got := c.Ifaces()["vmbr1"]; got["cidr"] != "198.51.100.2/24" || got["bridge_ports"] != "eth1" {
		t.Errorf("changed: %v", got)
	}
	c.Revert()
	if c.Ifaces()["vmbr1"]["cidr"] != "198.51.100.1/25" || !c.Delete("vmbr1") || c.Delete("vmbr9") {
		t.Errorf("reverted: %v", c.Ifaces())
	}
}

func TestInterfacesThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		iface string
		with  Iface
		want  string
	}{
		"there already":       {"vmbr0", Iface{"type": "bridge"}, "iface interface already exists"},
		"a second gateway":    {"vmbr1", Iface{"type": "bridge", "gateway": "192.0.2.254"}, "gateway Default gateway already exists on interface 'vmbr0'."},
		"a port of another":   {"vmbr1", Iface{"type": "bridge", "bridge_ports": "eth1 eth0"}, "bridge_ports eth0 is already used on interface 'vmbr0'."},
		"two forms":           {"vmbr1", Iface{"type": "bridge", "cidr": "10.0.0.1/8", "address": "10.0.0.1"}, "address address conflicts with cidr"},
		"two masks":           {"vmbr1", Iface{"type": "bridge", "cidr6": "fd00::1/64", "netmask6": "64"}, "netmask6 netmask6 conflicts with cidr6"},
		"VLANs that are none": {"vmbr1", Iface{"type": "bridge", "bridge_vids": " , "}, "bridge_vids VLAN list items are empty"},
	} {
		t.Run(name, func(t *testing.T) {
			n := New([]string{"vmbr0"}, "")
			if field, text := n.Update("vmbr0", Iface{"gateway": "192.0.2.1"}, nil); field != "" {
				t.Fatal(field, text)
			}
			field, text := n.Create(c.iface, c.with)
			if got := field + " " + text; got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	if field, text := New(nil, "").Update("vmbr0", nil, nil); field != "iface" || text != "interface does not exist" {
		t.Error(field, text)
	}
}
