package guest

import (
	"context"

	"kubehenge.dev/proxmox/simulator/core"
)

// Cut takes a guest's power away with its node's; the guest learns of it in the background.
func Cut(s *core.State, g *core.Guest) {
	if g.State == core.Stopped {
		return
	}
	g.State = core.Stopped
	if s.Inside == nil || g.Kind == "lxc" {
		return
	}
	view := s.View(g)
	s.Workers.Add(1)
	go func() {
		defer s.Workers.Done()
		s.Inside.Stop(context.WithoutCancel(s.Context), view)
	}()
}

// PowerOn starts a machine, with its pending changes applied.
func PowerOn(s *core.State, t *core.Task, node string, vmid int, skipLock bool) error {
	g, err := s.GuestOn(node, s.KindOf(vmid), vmid)
	if err != nil {
		return err
	}
	name := map[string]string{"qemu": "VM", "lxc": "CT"}[g.Kind]
	switch {
	case g.Template():
		return core.Fail("you can't start a %s if it's a template", map[string]string{"qemu": "vm", "lxc": "CT"}[g.Kind])
	case g.Lock() != "" && g.Lock() != "suspended" && g.Lock() != "mounted" && !skipLock:
		return core.Fail("%s is locked (%s)", name, g.Lock())
	case g.State != core.Stopped:
		return core.Fail("%s %d already running", name, vmid)
	}
	if err := s.Kinds[g.Kind].Settle(s, g); err != nil {
		return err
	}
	if err := s.Kinds[g.Kind].Startable(s, g); err != nil {
		return err
	}
	if err := t.Busy(); err != nil {
		return err
	}
	delete(g.Conf, "lock")
	s.PIDs++
	g.State, g.Started, g.PID = core.Running, s.Now(), s.PIDs
	if s.Inside == nil || g.Kind == "lxc" {
		return nil
	}
	view := s.View(g)
	t.Ask(func() { err = s.Inside.Start(t.Context, view) })
	if err != nil {
		g.State = core.Stopped
		return core.Fail("start failed: %v", err)
	}
	return nil
}

// PowerOff cuts a machine's power.
func PowerOff(s *core.State, t *core.Task, g *core.Guest) {
	if g.State == core.Stopped {
		return
	}
	g.State = core.Stopped
	_ = s.Kinds[g.Kind].Settle(s, g) // what cannot be applied goes on waiting
	if s.Inside != nil && g.Kind == "qemu" {
		view := s.View(g)
		t.Ask(func() { s.Inside.Stop(t.Context, view) })
	}
}
