package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
)

// loadFirewalls makes the firewalls of an inventory: the cluster's first, whose names the others may use.
func (s *Server) loadFirewalls(inv *Inventory) error {
	for _, key := range core.SortedKeys(inv.Firewalls) {
		s.state.Wall(key).Load(inv.Firewalls[key])
	}
	for _, key := range core.SortedKeys(inv.Firewalls) {
		at := firewall.Place{Env: envOf(key), Cluster: s.state.Wall(firewall.Cluster), Own: s.state.Walls[key]}
		for i, r := range s.state.Walls[key].Rules {
			if field, text := firewall.Verify(r, at); field != "" {
				return core.Fail("%s: rule %d: %s: %s", key, i, field, text)
			}
		}
	}
	return nil
}

// envOf is the kind of place that an inventory's key names.
func envOf(key string) string {
	kind, _, _ := strings.Cut(key, "/")
	switch {
	case core.Atoi64(key) > 0:
		return firewall.VM
	case kind == "node":
		return firewall.Host
	case kind == "vnet":
		return firewall.VNet
	}
	return firewall.Cluster
}

func (s *Server) saveFirewalls(inv *Inventory) {
	for key, f := range s.state.Walls {
		if f.Empty() {
			continue
		}
		if inv.Firewalls == nil {
			inv.Firewalls = map[string]FirewallSpec{}
		}
		inv.Firewalls[key] = f.Save()
	}
}
