package simulator

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// RemoveNode takes a node that is off out of the cluster for good, and with it what an administrator then removes of it:
// pvecm delnode, and rm -r /etc/pve/nodes/<name>. The configurations of its guests are gone, so that their VMIDs are
// free, and so are the volumes on its own storages; those on shared storages stay. The node that answers the API cannot
// be removed, nor can one that is on, or that a replication job leads to.
func (s *Server) RemoveNode(name string) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	switch n := s.state.Nodes[name]; {
	case n == nil:
		return fmt.Errorf("no node %q", name)
	case n.Online:
		return fmt.Errorf("node %q is on", name)
	}
	for _, r := range s.state.Replications {
		if r.Fields["target"] == name {
			return fmt.Errorf("node %q is the target of a replication job", name)
		}
	}
	for _, vmid := range s.state.VMIDs() {
		if g := s.state.Guests[vmid]; g.Node == name {
			s.dropGuest(g)
		}
	}
	maps.DeleteFunc(s.state.Volumes, func(_ string, v *core.Volume) bool { return v.Node == name })
	s.state.HA.Commands = slices.DeleteFunc(s.state.HA.Commands, func(c core.HACommand) bool { return c.Node == name })
	delete(s.state.HA.Resting, name)
	delete(s.state.Nodes, name)
	s.state.ManageSoon()
	return nil
}

// dropGuest removes a guest's configuration and no more; what plays the guest learns of it in the background.
func (s *Server) dropGuest(g *core.Guest) {
	s.state.ACL.RemoveGuest(g.VMID)
	delete(s.state.Walls, core.Itoa(g.VMID))
	delete(s.state.Guests, g.VMID)
	if s.state.Inside == nil || g.Kind != "qemu" {
		return
	}
	view := s.state.View(g)
	s.state.Workers.Go(func() { s.state.Inside.Destroy(context.WithoutCancel(s.state.Context), view) })
}
