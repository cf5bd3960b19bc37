package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/ha"
)

// loadHA makes the resources, rules and groups of an inventory.
func (s *Server) loadHA(inv *Inventory) error {
	for _, spec := range inv.HA.Resources {
		if s.state.GuestOfSID(spec.ID) == nil {
			return core.Fail("resource %q is no guest", spec.ID)
		}
		s.state.HA.Resources[spec.ID] = &core.HAResource{SID: spec.ID, State: core.Or(spec.State, "started"), Fields: core.CopyMap(spec.Options)}
	}
	for _, spec := range inv.HA.Rules {
		r := &ha.Rule{ID: spec.ID, Kind: spec.Type, Resources: slices.Sorted(slices.Values(spec.Resources)), Strict: spec.Strict, Negative: spec.Affinity == "negative",
			Disabled: spec.Disabled, DisableSet: spec.Disabled, Comment: spec.Comment}
		if r.Kind == ha.NodeAffinity {
			r.Nodes = core.NodePriorities(strings.Split(spec.Nodes, ","))
		}
		s.state.HA.Rules = append(s.state.HA.Rules, r)
	}
	for id, options := range inv.HA.Groups {
		s.state.HA.Groups[id] = core.CopyMap(options)
	}
	for _, n := range inv.HA.Maintenance {
		s.state.HA.Resting[n] = true
	}
	s.state.HA.Ran = inv.HA.Used || len(s.state.HA.Resources) > 0
	return nil
}

func (s *Server) saveHA(inv *Inventory) {
	for _, sid := range core.SortedKeys(s.state.HA.Resources) {
		r := s.state.HA.Resources[sid]
		inv.HA.Resources = append(inv.HA.Resources, HAResourceSpec{ID: sid, State: r.State, Options: core.CopyMap(r.Fields)})
	}
	for _, r := range s.state.HA.Rules {
		spec := HARuleSpec{ID: r.ID, Type: r.Kind, Resources: r.Resources, Strict: r.Strict, Disabled: r.Disabled, Comment: r.Comment}
		if r.Kind == ha.NodeAffinity {
			spec.Nodes = core.RuleNodes(r)
		} else {
			spec.Affinity = map[bool]string{true: "negative", false: "positive"}[r.Negative]
		}
		inv.HA.Rules = append(inv.HA.Rules, spec)
	}
	for _, id := range core.SortedKeys(s.state.HA.Groups) {
		if inv.HA.Groups == nil {
			inv.HA.Groups = map[string]map[string]string{}
		}
		inv.HA.Groups[id] = core.CopyMap(s.state.HA.Groups[id])
	}
	inv.HA.Maintenance = core.SortedKeys(s.state.HA.Resting)
	inv.HA.Used = s.state.HA.Ran
}
