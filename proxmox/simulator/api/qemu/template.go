package qemu

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

func makeTemplate(c *core.Call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	switch {
	case len(g.Snaps) > 0:
		return nil, core.Fail("unable to create template, because VM contains snapshots")
	case g.Template():
		return nil, core.Fail("you can't convert a template to a template")
	case g.State != core.Stopped:
		return nil, core.Fail("you can't convert a VM to template if VM is running")
	}
	return c.Fork(node, "qmtemplate", core.Itoa(vmid), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		g, err := c.State.GuestOn(node, "qemu", vmid)
		if err != nil {
			return err
		}
		toTemplate(c.State, g)
		return nil
	}), nil
}

// toTemplate renames the machine's disks to base images.
func toTemplate(s *core.State, g *core.Guest) {
	conf := map[string]string{}
	for k, v := range g.Conf {
		conf[k] = v
	}
	conf["template"] = "1"
	for _, d := range guestconf.Drives(conf) {
		v := s.Volume(g.Node, d.File())
		if v == nil || d.CDROM() || !s.OwnedBy(d.File(), g.VMID) {
			continue
		}
		s.DropVolume(v)
		i := strings.LastIndex(v.ID, "vm-")
		v.ID = v.ID[:i] + "base-" + v.ID[i+len("vm-"):]
		s.PutVolume(v)
		d.Set("file", v.ID)
		conf[d.Option] = d.String()
	}
	g.Conf = conf
}
