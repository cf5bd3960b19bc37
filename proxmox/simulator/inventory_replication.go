package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// loadReplication makes the jobs of an inventory.
func (s *Server) loadReplication(inv *Inventory) error {
	for _, spec := range inv.Replications {
		vmid, _, _ := strings.Cut(spec.ID, "-")
		g := s.state.Guests[int(core.Atoi64(vmid))]
		if schema.CheckFormat("replication-id", "", spec.ID) != nil || g == nil || s.state.Nodes[spec.Target] == nil {
			return core.Fail("job %q: the guest, or the target %q, is not there", spec.ID, spec.Target)
		}
		fields := core.CopyMap(spec.Options)
		fields["target"], fields["source"] = spec.Target, g.Node
		s.state.Replications[spec.ID] = &core.Replication{ID: spec.ID, Guest: g.VMID, Fields: fields}
	}
	return nil
}

func (s *Server) saveReplication(inv *Inventory) {
	for _, id := range core.SortedKeys(s.state.Replications) {
		fields := core.CopyMap(s.state.Replications[id].Fields)
		spec := ReplicationSpec{ID: id, Target: fields["target"]}
		for _, k := range []string{"target", "source"} {
			delete(fields, k)
		}
		if len(fields) > 0 {
			spec.Options = fields
		}
		inv.Replications = append(inv.Replications, spec)
	}
}
