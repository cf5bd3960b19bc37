package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
	"kubehenge.dev/proxmox/simulator/sdn"
)

// loadSDN makes the zones of an inventory, which run.
func (s *Server) loadSDN(inv *Inventory) {
	for _, z := range inv.Zones {
		zone := sdn.Object(core.CopyMap(z.Options))
		zone["type"] = z.Type
		if len(z.Nodes) > 0 {
			zone["nodes"] = strings.Join(z.Nodes, ",")
		}
		s.state.SDN.Wanted.Zones[z.Name] = zone
		for _, name := range z.VNets {
			v := sdn.Object(core.CopyMap(z.VNetOptions[name]))
			v["zone"], v["type"] = z.Name, "vnet"
			s.state.SDN.Wanted.VNets[name] = v
		}
		for id, fields := range z.Subnets {
			subnet := sdn.Object(core.CopyMap(fields))
			subnet["type"] = "subnet"
			s.state.SDN.Wanted.Subnets[id] = subnet
		}
	}
	s.state.SDN.Apply()
}

// without is a copy of an object without some options, nil if nothing is left.
func without(o sdn.Object, names ...string) map[string]string {
	n := core.CopyMap(o)
	for _, name := range names {
		delete(n, name)
	}
	if len(n) == 0 {
		return nil
	}
	return n
}

func (s *Server) saveSDN(inv *Inventory) {
	for _, name := range core.SortedKeys(s.state.SDN.Wanted.Zones) {
		z := s.state.SDN.Wanted.Zones[name]
		spec := ZoneSpec{Name: name, Type: z["type"], Nodes: schema.SplitList(z["nodes"]), Options: without(z, "type", "nodes")}
		for _, id := range core.SortedKeys(s.state.SDN.Wanted.VNets) {
			v := s.state.SDN.Wanted.VNets[id]
			if v["zone"] != name {
				continue
			}
			spec.VNets = append(spec.VNets, id)
			if o := without(v, "zone", "type"); o != nil {
				if spec.VNetOptions == nil {
					spec.VNetOptions = map[string]map[string]string{}
				}
				spec.VNetOptions[id] = o
			}
			for subnet, fields := range s.state.SDN.Wanted.Subnets {
				if fields["vnet"] != id {
					continue
				}
				if spec.Subnets == nil {
					spec.Subnets = map[string]map[string]string{}
				}
				spec.Subnets[subnet] = without(fields, "type")
			}
		}
		inv.Zones = append(inv.Zones, spec)
	}
}
