package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

func (c *call) makeTemplate() (any, error) {
	node, vmid := c.node(), c.vmid()
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	switch {
	case len(g.snaps) > 0:
		return nil, fail("unable to create template, because VM contains snapshots")
	case g.template():
		return nil, fail("you can't convert a template to a template")
	case g.state != stopped:
		return nil, fail("you can't convert a VM to template if VM is running")
	}
	return c.fork(node, "qmtemplate", itoa(vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		g, err := c.s.guestOn(node, "qemu", vmid)
		if err != nil {
			return err
		}
		c.s.toTemplate(g)
		return nil
	}), nil
}

// toTemplate renames the machine's disks to base images.
func (s *state) toTemplate(g *guest) {
	conf := map[string]string{}
	for k, v := range g.conf {
		conf[k] = v
	}
	conf["template"] = "1"
	for _, d := range guestconf.Drives(conf) {
		v := s.volume(g.node, d.File())
		if v == nil || d.CDROM() || !s.ownedBy(d.File(), g.vmid) {
			continue
		}
		s.dropVolume(v)
		i := strings.LastIndex(v.id, "vm-")
		v.id = v.id[:i] + "base-" + v.id[i+len("vm-"):]
		s.putVolume(v)
		d.Set("file", v.id)
		conf[d.Option] = d.String()
	}
	g.conf = conf
}
