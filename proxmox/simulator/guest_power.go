package simulator

import "context"

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

// powerOn starts a machine, with its pending changes applied.
func (s *state) powerOn(t *task, node string, vmid int, skipLock bool) error {
	g, err := s.guestOn(node, s.kindOf(vmid), vmid)
	if err != nil {
		return err
	}
	name := map[string]string{"qemu": "VM", "lxc": "CT"}[g.kind]
	switch {
	case g.template():
		return fail("you can't start a %s if it's a template", map[string]string{"qemu": "vm", "lxc": "CT"}[g.kind])
	case g.lock() != "" && g.lock() != "suspended" && g.lock() != "mounted" && !skipLock:
		return fail("%s is locked (%s)", name, g.lock())
	case g.state != stopped:
		return fail("%s %d already running", name, vmid)
	}
	if err := s.kinds[g.kind].settle(s, g); err != nil {
		return err
	}
	if err := s.kinds[g.kind].startable(s, g); err != nil {
		return err
	}
	if err := t.busy(); err != nil {
		return err
	}
	delete(g.conf, "lock")
	s.pids++
	g.state, g.started, g.pid = running, s.now(), s.pids
	if s.inside == nil || g.kind == "lxc" {
		return nil
	}
	view := s.view(g)
	t.ask(func() { err = s.inside.Start(t.ctx, view) })
	if err != nil {
		g.state = stopped
		return fail("start failed: %v", err)
	}
	return nil
}

// powerOff cuts a machine's power.
func (s *state) powerOff(t *task, g *guest) {
	if g.state == stopped {
		return
	}
	g.state = stopped
	_ = s.kinds[g.kind].settle(s, g) // what cannot be applied goes on waiting
	if s.inside != nil && g.kind == "qemu" {
		view := s.view(g)
		t.ask(func() { s.inside.Stop(t.ctx, view) })
	}
}
