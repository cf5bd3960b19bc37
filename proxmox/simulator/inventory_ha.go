package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/ha"
)

// loadHA makes the resources, rules and groups of an inventory.
func (s *Server) loadHA(inv *Inventory) error {
	for _, spec := range inv.HA.Resources {
		if s.guestOfSID(spec.ID) == nil {
			return fail("resource %q is no guest", spec.ID)
		}
		s.ha.resources[spec.ID] = &haResource{sid: spec.ID, state: or(spec.State, "started"), fields: copyMap(spec.Options)}
	}
	for _, spec := range inv.HA.Rules {
		r := &ha.Rule{ID: spec.ID, Kind: spec.Type, Resources: slices.Sorted(slices.Values(spec.Resources)), Strict: spec.Strict, Negative: spec.Affinity == "negative",
			Disabled: spec.Disabled, DisableSet: spec.Disabled, Comment: spec.Comment}
		if r.Kind == ha.NodeAffinity {
			r.Nodes = nodePriorities(strings.Split(spec.Nodes, ","))
		}
		s.ha.rules = append(s.ha.rules, r)
	}
	for id, options := range inv.HA.Groups {
		s.ha.groups[id] = copyMap(options)
	}
	for _, n := range inv.HA.Maintenance {
		s.ha.resting[n] = true
	}
	s.ha.ran = inv.HA.Used || len(s.ha.resources) > 0
	return nil
}

func (s *Server) saveHA(inv *Inventory) {
	for _, sid := range sortedKeys(s.ha.resources) {
		r := s.ha.resources[sid]
		inv.HA.Resources = append(inv.HA.Resources, HAResourceSpec{ID: sid, State: r.state, Options: copyMap(r.fields)})
	}
	for _, r := range s.ha.rules {
		spec := HARuleSpec{ID: r.ID, Type: r.Kind, Resources: r.Resources, Strict: r.Strict, Disabled: r.Disabled, Comment: r.Comment}
		if r.Kind == ha.NodeAffinity {
			spec.Nodes = ruleNodes(r)
		} else {
			spec.Affinity = map[bool]string{true: "negative", false: "positive"}[r.Negative]
		}
		inv.HA.Rules = append(inv.HA.Rules, spec)
	}
	for _, id := range sortedKeys(s.ha.groups) {
		if inv.HA.Groups == nil {
			inv.HA.Groups = map[string]map[string]string{}
		}
		inv.HA.Groups[id] = copyMap(s.ha.groups[id])
	}
	inv.HA.Maintenance = sortedKeys(s.ha.resting)
	inv.HA.Used = s.ha.ran
}
