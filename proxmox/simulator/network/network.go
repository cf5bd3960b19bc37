// Package network keeps the network interfaces of a node: as they are in force, and as they will be once the changes to
// them are applied.
//
// Source: pve-manager PVE/API2/Network.pm, pve-common src/PVE/INotify.pm.
package network

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Iface is an interface: field -> value, as the API names them.
type Iface map[string]string

// IsBridge tells whether guests can be attached to it.
func (i Iface) IsBridge() bool { return i["type"] == "bridge" || i["type"] == "OVSBridge" }

// Config is the configuration of a node.
type Config struct {
	applied, wanted map[string]Iface // wanted is nil if nothing waits
}

// New has bridges; the first has the node's address (with its prefix), and a port. An address may be empty.
func New(bridges []string, cidr string) *Config {
	c := &Config{applied: map[string]Iface{}}
	for i, name := range bridges {
		b := Iface{"type": "bridge", "autostart": "1", "bridge_ports": "eth0"}
		if i == 0 {
			b["cidr"] = cidr
		}
		c.applied[name] = complete(b)
	}
	return c
}

// Ifaces are the interfaces as they are wanted.
func (c *Config) Ifaces() map[string]Iface {
	if c.wanted != nil {
		return c.wanted
	}
	return c.applied
}

// Active tells whether an interface is in force.
func (c *Config) Active(name string) bool { return c.applied[name] != nil }

// Bridges are the names of the bridges in force, sorted.
func (c *Config) Bridges() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.applied)) {
		if c.applied[name].IsBridge() {
			names = append(names, name)
		}
	}
	return names
}

// change is a copy of what is wanted that may be changed.
func (c *Config) change() map[string]Iface {
	m := map[string]Iface{}
	for name, i := range c.Ifaces() {
		m[name] = maps.Clone(i)
	}
	return m
}

// Create adds an interface. It returns the field that is wrong and why, empty texts if all is well.
func (c *Config) Create(name string, i Iface) (field, text string) {
	if c.Ifaces()[name] != nil {
		return "iface", "interface already exists"
	}
	return c.set(name, i)
}

// Update changes the fields of an interface that are given and takes others away.
func (c *Config) Update(name string, i Iface, remove []string) (field, text string) {
	old := c.Ifaces()[name]
	if old == nil {
		return "iface", "interface does not exist"
	}
	changed := maps.Clone(old)
	for _, k := range append(remove, "cidr", "cidr6") {
		delete(changed, k)
	}
	for family, suffix := range map[string]string{"cidr": "", "cidr6": "6"} {
		if slices.Contains(remove, family) || i[family] != "" {
			delete(changed, "address"+suffix)
			delete(changed, "netmask"+suffix)
		}
	}
	maps.Copy(changed, i)
	return c.set(name, changed)
}

// Delete takes an interface away and tells whether it was there.
func (c *Config) Delete(name string) bool {
	if c.Ifaces()[name] == nil {
		return false
	}
	m := c.change()
	delete(m, name)
	c.want(m)
	return true
}

func (c *Config) set(name string, i Iface) (field, text string) {
	for _, check := range []func(string, Iface) (string, string){c.gateways, c.ports, conflicts, vlans} {
		if field, text = check(name, i); field != "" {
			return field, text
		}
	}
	m := c.change()
	m[name] = complete(i)
	c.want(m)
	return "", ""
}

func (c *Config) want(m map[string]Iface) {
	c.wanted = m
	if c.Changes() == "" {
		c.wanted = nil
	}
}

// Apply puts what is wanted into force.
func (c *Config) Apply() {
	if c.wanted != nil {
		c.applied, c.wanted = c.wanted, nil
	}
}

// Revert drops what waits.
func (c *Config) Revert() { c.wanted = nil }

func (c *Config) gateways(name string, i Iface) (field, text string) {
	for _, g := range [][2]string{{"gateway", "Default gateway"}, {"gateway6", "Default ipv6 gateway"}} {
		if i[g[0]] == "" {
			continue
		}
		for _, other := range slices.Sorted(maps.Keys(c.Ifaces())) {
			if other != name && c.Ifaces()[other][g[0]] != "" {
				return g[0], fmt.Sprintf("%s already exists on interface '%s'.", g[1], other)
			}
		}
	}
	return "", ""
}

// portFields are the fields that name other interfaces, which can only be part of one.
var portFields = strings.Fields("bridge_ports ovs_ports slaves ovs_bonds")

func (i Iface) ports() (field string, names []string) {
	for _, k := range portFields {
		list := strings.FieldsFunc(i[k], func(r rune) bool { return r == ' ' || r == ',' || r == ';' })
		if field == "" && len(list) > 0 {
			field = k
		}
		names = append(names, list...)
	}
	return field, names
}

func (c *Config) ports(name string, i Iface) (field, text string) {
	field, mine := i.ports()
	for _, other := range slices.Sorted(maps.Keys(c.Ifaces())) {
		_, theirs := c.Ifaces()[other].ports()
		for _, p := range theirs {
			if other != name && slices.Contains(mine, p) {
				return field, fmt.Sprintf("%s is already used on interface '%s'.", p, other)
			}
		}
	}
	return "", ""
}

func conflicts(_ string, i Iface) (field, text string) {
	for _, suffix := range []string{"", "6"} {
		for _, k := range []string{"address", "netmask"} {
			if i["cidr"+suffix] != "" && i[k+suffix] != "" {
				return k + suffix, k + suffix + " conflicts with cidr" + suffix
			}
		}
	}
	return "", ""
}

func vlans(_ string, i Iface) (field, text string) {
	if v, given := i["bridge_vids"]; given && strings.Trim(v, " ,;") == "" && v != "" {
		return "bridge_vids", "VLAN list items are empty"
	}
	return "", ""
}

// complete fills in what every interface has: addresses in both forms, how they come, and what makes a bridge.
func complete(i Iface) Iface {
	n := maps.Clone(i)
	for _, suffix := range []string{"", "6"} {
		if p, err := netip.ParsePrefix(n["cidr"+suffix]); err == nil {
			n["address"+suffix], n["netmask"+suffix] = p.Addr().String(), strconv.Itoa(p.Bits())
		}
		if a := n["address"+suffix]; a != "" {
			n["cidr"+suffix] = a + "/" + bits(n["netmask"+suffix])
		} else {
			delete(n, "cidr"+suffix)
		}
		n["method"+suffix] = "manual"
		if n["address"+suffix] != "" {
			n["method"+suffix] = "static"
		}
	}
	if n["type"] == "bridge" {
		for k, v := range map[string]string{"bridge_ports": "", "bridge_stp": "off", "bridge_fd": "0"} {
			if _, set := n[k]; !set {
				n[k] = v
			}
		}
	}
	return n
}

// bits is a netmask such as 255.255.255.0 as the length of its prefix.
func bits(mask string) string {
	a, err := netip.ParseAddr(mask)
	if err != nil || !a.Is4() {
		return mask
	}
	n := 0
	for _, b := range a.As4() {
		for ; b != 0; b <<= 1 {
			n++
		}
	}
	return strconv.Itoa(n)
}

// Changes are the differences between what is in force and what is wanted, empty if there are none.
func (c *Config) Changes() string {
	if c.wanted == nil {
		return ""
	}
	old, now := text(c.applied), text(c.wanted)
	if slices.Equal(old, now) {
		return ""
	}
	var b strings.Builder
	b.WriteString("--- /etc/network/interfaces\n+++ /etc/network/interfaces.new\n")
	for _, line := range old {
		if !slices.Contains(now, line) {
			b.WriteString("-" + line + "\n")
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			b.WriteString("+" + line + "\n")
		}
	}
	return b.String()
}

// text is a configuration as lines, each naming its interface.
func text(ifaces map[string]Iface) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(ifaces)) {
		lines = append(lines, "iface "+name+" inet "+ifaces[name]["method"])
		for _, k := range slices.Sorted(maps.Keys(ifaces[name])) {
			lines = append(lines, name+" "+strings.ReplaceAll(k, "_", "-")+" "+ifaces[name][k])
		}
	}
	return lines
}
