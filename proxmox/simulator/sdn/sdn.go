// Package sdn keeps the software-defined network of a cluster, its zones, their VNets and these' subnets: as it is wanted, and
// as it runs since it was last applied.
//
// Source: pve-network src/PVE/Network/SDN.pm, src/PVE/API2/Network/SDN/.
package sdn

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Object is a zone, a VNet or a subnet: option -> value.
type Object map[string]string

// State are all objects by their IDs.
type State struct{ Zones, VNets, Subnets map[string]Object }

// Config is what runs and what is wanted. Lock is the token that changes must show, empty while nobody holds the lock.
type Config struct {
	Running, Wanted State
	Lock            string
}

func newState() State { return State{map[string]Object{}, map[string]Object{}, map[string]Object{}} }

func (s State) clone() State {
	n := newState()
	for to, from := range map[*map[string]Object]map[string]Object{&n.Zones: s.Zones, &n.VNets: s.VNets, &n.Subnets: s.Subnets} {
		for id, o := range from {
			(*to)[id] = maps.Clone(o)
		}
	}
	return n
}

// New is a network without anything in it.
func New() *Config { return &Config{Running: newState(), Wanted: newState()} }

// Apply lets run what is wanted.
func (c *Config) Apply() { c.Running = c.Wanted.clone() }

// Rollback drops what does not run.
func (c *Config) Rollback() { c.Wanted = c.Running.clone() }

// Objects are those of a kind: zones, vnets or subnets.
func (s State) Objects(kind string) map[string]Object {
	switch kind {
	case "zones":
		return s.Zones
	case "vnets":
		return s.VNets
	}
	return s.Subnets
}

// On tells whether a node has a zone.
func (s State) On(node, zone string) bool {
	z := s.Zones[zone]
	return z != nil && (z["nodes"] == "" || slices.Contains(strings.FieldsFunc(z["nodes"], func(r rune) bool { return r == ',' || r == ' ' }), node))
}

// Pending is an object as it runs, with what is to become of it: its state (new, changed, deleted; empty if nothing is to),
// and the options that will be different.
func (c *Config) Pending(kind, id string) (running Object, pending Object, state string) {
	running, wanted := c.Running.Objects(kind)[id], c.Wanted.Objects(kind)[id]
	pending = Object{}
	switch {
	case running == nil:
		return running, maps.Clone(wanted), "new"
	case wanted == nil:
		return running, pending, "deleted"
	}
	for k := range running {
		if _, kept := wanted[k]; !kept {
			pending[k], state = "deleted", "changed"
		}
	}
	for k, v := range wanted {
		if running[k] != v {
			pending[k], state = v, "changed"
		}
	}
	return running, pending, state
}

// HasPending tells whether anything waits to be applied.
func (c *Config) HasPending() bool {
	for _, kind := range []string{"zones", "vnets", "subnets"} {
		if !maps.EqualFunc(c.Running.Objects(kind), c.Wanted.Objects(kind), func(a, b Object) bool { return maps.Equal(a, b) }) {
			return true
		}
	}
	return false
}

// zoneOptions are what types of zones have beside the common options; a star marks what must be given.
var zoneOptions = map[string]string{
	"simple": "dhcp", "vlan": "bridge* bridge-disable-mac-learning", "qinq": "tag* bridge* bridge-disable-mac-learning vlan-protocol", "vxlan": "peers vxlan-port fabric",
	"evpn":   "vrf-vxlan* controller* exitnodes exitnodes-local-routing exitnodes-primary advertise-subnets disable-arp-nd-suppression bridge-disable-mac-learning rt-import vxlan-port mac",
	"faucet": "dp-id* controller*",
}

// common are the options of all types of zones.
var common = strings.Fields("nodes mtu dns reversedns dnszone ipam type")

// CheckZone tells why a zone cannot be, nil if it can.
func CheckZone(z Object) error {
	options, known := strings.Fields(zoneOptions[z["type"]]), slices.Clone(common)
	for _, o := range options {
		name, required := strings.CutSuffix(o, "*")
		known = append(known, name)
		if required && z[name] == "" {
			return fmt.Errorf("missing value for required option '%s'", name)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(z)) {
		if !slices.Contains(known, k) {
			return fmt.Errorf("unexpected property '%s'", k)
		}
	}
	return nil
}

// FieldError is an option that is wrong, and why.
type FieldError struct{ Field, Text string }

// Error is the text alone.
func (e *FieldError) Error() string { return e.Text }

// CheckVNet tells why a VNet cannot be, nil if it can.
func (c *Config) CheckVNet(id string, v Object) error {
	zone := c.Wanted.Zones[v["zone"]]
	if zone == nil {
		return fmt.Errorf("sdn '%s' does not exist", v["zone"])
	}
	tag, tagged := v["tag"]
	n, _ := strconv.Atoi(tag)
	switch zone["type"] {
	case "simple":
		if tagged {
			return &FieldError{"tag", "vlan tag is not allowed on simple zone"}
		}
		return nil
	case "vlan", "qinq":
		if !tagged && zone["type"] == "vlan" {
			return &FieldError{"tag", "missing vlan tag"}
		}
		if n > 4096 {
			return &FieldError{"tag", "vlan tag max value is 4096"}
		}
	case "vxlan", "evpn":
		if !tagged {
			return &FieldError{"tag", "missing vxlan tag"}
		}
	}
	for other, o := range c.Wanted.VNets {
		if tagged && other != id && o["tag"] == tag && o["zone"] == v["zone"] {
			return &FieldError{"tag", "tag " + tag + " already exist in vnet " + other}
		}
	}
	return nil
}

// SubnetID is the ID of a subnet by its network: ZONE-ADDRESS-LENGTH.
func (c *Config) SubnetID(vnet, cidr string) string {
	if !strings.Contains(cidr, "/") {
		return cidr
	}
	return c.Wanted.VNets[vnet]["zone"] + "-" + strings.ReplaceAll(cidr, "/", "-")
}

// CIDR is the network of a subnet's ID.
func CIDR(id string) string {
	parts := strings.Split(id, "-")
	if len(parts) < 3 {
		return ""
	}
	return parts[len(parts)-2] + "/" + parts[len(parts)-1]
}

// CheckSubnet tells why a subnet cannot be, nil if it can.
func (c *Config) CheckSubnet(id string, s Object) error {
	network, err := netip.ParsePrefix(CIDR(id))
	vnet := c.Wanted.VNets[s["vnet"]]
	gateway, gatewayErr := netip.ParseAddr(s["gateway"])
	switch {
	case err != nil:
		return fmt.Errorf("invalid subnet '%s'", id)
	case vnet == nil:
		return &FieldError{"vnet", s["vnet"] + " don't exist"}
	case vnet["vlanaware"] == "1":
		return &FieldError{"vnet", "you can't add a subnet on a vlanaware vnet"}
	case gatewayErr == nil && !network.Contains(gateway) && !network.IsSingleIP():
		return &FieldError{"gateway", s["gateway"] + " is not in subnet " + network.String()}
	}
	return nil
}

// UsedBy is what hinders the deletion of an object, nil if nothing does.
func (c *Config) UsedBy(kind, id string) error {
	if kind == "zones" {
		for _, vnet := range slices.Sorted(maps.Keys(c.Wanted.VNets)) {
			if c.Wanted.VNets[vnet]["zone"] == id {
				return fmt.Errorf("zone %s is used by vnet %s", id, vnet)
			}
		}
	}
	if kind == "vnets" {
		for _, s := range c.Wanted.Subnets {
			if s["vnet"] == id {
				return &FieldError{"vnet", "Can't delete vnet if subnets exists"}
			}
		}
	}
	return nil
}
