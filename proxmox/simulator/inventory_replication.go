package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

// loadReplication makes the jobs of an inventory.
func (s *Server) loadReplication(inv *Inventory) error {
	for _, spec := range inv.Replications {
		vmid, _, _ := strings.Cut(spec.ID, "-")
		g := s.guests[int(atoi64(vmid))]
		if schema.CheckFormat("replication-id", "", spec.ID) != nil || g == nil || s.nodes[spec.Target] == nil {
			return fail("job %q: the guest, or the target %q, is not there", spec.ID, spec.Target)
		}
		fields := copyMap(spec.Options)
		fields["target"], fields["source"] = spec.Target, g.node
		s.replications[spec.ID] = &replication{id: spec.ID, guest: g.vmid, fields: fields}
	}
	return nil
}

func (s *Server) saveReplication(inv *Inventory) {
	for _, id := range sortedKeys(s.replications) {
		fields := copyMap(s.replications[id].fields)
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
