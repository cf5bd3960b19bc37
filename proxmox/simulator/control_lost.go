package simulator

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// RemoveNode takes a node that is off out of the cluster for good, and with it what an administrator then removes of it:
// pvecm delnode, and rm -r /etc/pve/nodes/<name>. The configurations of its guests are gone, so that their VMIDs are
// free, and so are the volumes on its own storages; those on shared storages stay. The node that answers the API cannot
// be removed, nor can one that is on, or that a replication job leads to.
func (s *Server) RemoveNode(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch n := s.nodes[name]; {
	case n == nil:
		return fmt.Errorf("no node %q", name)
	case n.online:
		return fmt.Errorf("node %q is on", name)
	}
	for _, r := range s.replications {
		if r.fields["target"] == name {
			return fmt.Errorf("node %q is the target of a replication job", name)
		}
	}
	for _, vmid := range s.vmids() {
		if g := s.guests[vmid]; g.node == name {
			s.dropGuest(g)
		}
	}
	maps.DeleteFunc(s.volumes, func(_ string, v *volume) bool { return v.node == name })
	s.ha.commands = slices.DeleteFunc(s.ha.commands, func(c haCommand) bool { return c.node == name })
	delete(s.ha.resting, name)
	delete(s.nodes, name)
	s.manageSoon()
	return nil
}

// dropGuest removes a guest's configuration and no more; what plays the guest learns of it in the background.
func (s *Server) dropGuest(g *guest) {
	s.acl.RemoveGuest(g.vmid)
	delete(s.walls, itoa(g.vmid))
	delete(s.guests, g.vmid)
	if s.inside == nil || g.kind != "qemu" {
		return
	}
	view := s.view(g)
	s.workers.Go(func() { s.inside.Destroy(context.WithoutCancel(s.ctx), view) })
}
