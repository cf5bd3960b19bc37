package simulator

import (
	"fmt"

	"kubehenge.dev/proxmox/simulator/api/nodes"
)

// SetNodeOnline switches a node on or off. Guests on a node that goes off lose their power with it; those that start by
// themselves (onboot) run again when it comes back.
func (s *Server) SetNodeOnline(name string, online bool) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	return nodes.Switch(s.state, name, online)
}

// SetLock puts a lock on a guest, as a backup does; an empty one takes it away.
func (s *Server) SetLock(vmid int, lock string) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	g := s.state.Guests[vmid]
	if g == nil {
		return fmt.Errorf("no VM %d", vmid)
	}
	if lock == "" {
		delete(g.Conf, "lock")
		return nil
	}
	g.Conf["lock"] = lock
	return nil
}

// SetMaintenance asks a node to run no HA services for now, or no longer so: they move away, and come back afterwards.
// Proxmox VE has no call of its API for it, but a command: ha-manager crm-command node-maintenance.
func (s *Server) SetMaintenance(name string, on bool) error {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	if s.state.Nodes[name] == nil {
		return fmt.Errorf("no node %q", name)
	}
	delete(s.state.HA.Resting, name)
	if on {
		s.state.HA.Resting[name] = true
	}
	s.state.ManageSoon()
	return nil
}
