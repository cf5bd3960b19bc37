package simulator

import "fmt"

// SetNodeOnline switches a node on or off. Guests on a node that goes off lose their power with it; those that start by
// themselves (onboot) run again when it comes back.
func (s *Server) SetNodeOnline(name string, online bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.switchNode(name, online)
}

// SetLock puts a lock on a guest, as a backup does; an empty one takes it away.
func (s *Server) SetLock(vmid int, lock string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guests[vmid]
	if g == nil {
		return fmt.Errorf("no VM %d", vmid)
	}
	if lock == "" {
		delete(g.conf, "lock")
		return nil
	}
	g.conf["lock"] = lock
	return nil
}

// SetMaintenance asks a node to run no HA services for now, or no longer so: they move away, and come back afterwards.
// Proxmox VE has no call of its API for it, but a command: ha-manager crm-command node-maintenance.
func (s *Server) SetMaintenance(name string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes[name] == nil {
		return fmt.Errorf("no node %q", name)
	}
	delete(s.ha.resting, name)
	if on {
		s.ha.resting[name] = true
	}
	s.manageSoon()
	return nil
}
