package simulator

import (
	"context"
	"fmt"
)

// SetNodeOnline switches a node on or off. Guests on a node that goes off lose their power with it; those that start by
// themselves (onboot) run again when it comes back.
func (s *Server) SetNodeOnline(name string, online bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.switchNode(name, online)
}

// switchNode is SetNodeOnline with the lock held.
func (s *state) switchNode(name string, online bool) error {
	n := s.nodes[name]
	switch {
	case n == nil:
		return fmt.Errorf("no node %q", name)
	case n.online == online:
		return nil
	}
	if !online {
		s.broadcast()
		for _, g := range s.guests {
			if g.node == name {
				s.cut(g)
			}
		}
		n.down = s.now()
	}
	n.online, n.told = online, false
	s.manageSoon()
	if !online {
		return nil
	}
	n.started = s.now()
	for _, vmid := range s.vmids() {
		if g := s.guests[vmid]; g != nil && g.node == name && g.conf["onboot"] == "1" && s.haRequest(vmid) == nil {
			s.fork(nil, name, "qmstart", itoa(vmid), func(t *task) error { return s.powerOn(t, name, vmid, false) })
		}
	}
	return nil
}

// cut takes a guest's power away with its node's; the guest learns of it in the background.
func (s *state) cut(g *guest) {
	if g.state == stopped {
		return
	}
	g.state = stopped
	if s.inside == nil || g.kind == "lxc" {
		return
	}
	view := s.view(g)
	s.workers.Add(1)
	go func() {
		defer s.workers.Done()
		s.inside.Stop(context.WithoutCancel(s.ctx), view)
	}()
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
