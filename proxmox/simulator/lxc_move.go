package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

func (c *call) moveVolume() (any, error) {
	if c.has("storage") == c.has("target-vmid") {
		if c.has("storage") {
			return nil, fail("either set storage or target-vmid, but not both")
		}
		return nil, fail("Provide either a 'storage' to move the mount point to a different storage or 'target-vmid' and 'target-mp' to move the mount point to another container")
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	if c.has("target-vmid") {
		return c.giveVolume(g)
	}
	return c.moveVolumeTo(g)
}

func (c *call) moveVolumeTo(g *guest) (any, error) {
	if err := c.check("/storage/"+c.text("storage"), "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	option := c.text("volume")
	switch {
	case g.state != stopped:
		return nil, fail("cannot move volumes of a running container")
	case guestconf.UnusedName.MatchString(option):
		return nil, fail("cannot move volume '%s', only configured volumes can be moved to another storage", option)
	}
	st, err := c.s.storageOn(g.node, c.text("storage"))
	if err != nil {
		return nil, err
	}
	if err := unmodified(g.digest(), c.text("digest")); err != nil {
		return nil, err
	}
	old := c.s.volume(g.node, guestconf.MountVolume(g.conf[option]))
	if old == nil {
		return nil, fail("no '%s' configured", option)
	}
	g.conf["lock"] = "disk"
	c.giveUp = func() { delete(g.conf, "lock") }
	return c.fork(g.node, "move_volume", itoa(g.vmid), func(t *task) error {
		err := t.busy()
		delete(g.conf, "lock")
		if err != nil {
			return err
		}
		v := c.s.allocateCT(st, g.node, g.vmid, old.size)
		conf := copyMap(g.conf)
		conf[option] = strings.Replace(conf[option], old.id, v.id, 1)
		if c.flag("delete", false) {
			c.s.dropVolume(old)
		} else {
			conf[freeUnused(conf)] = old.id
		}
		g.conf = conf
		return nil
	}), nil
}

// giveVolume renames a volume so that it belongs to another container of the node.
func (c *call) giveVolume(g *guest) (any, error) {
	option := c.text("volume")
	at := or(c.text("target-volume"), option)
	to := c.s.guests[c.number("target-vmid", 0)]
	if err := c.check("/vms/"+c.text("target-vmid"), "VM.Config.Disk"); err != nil {
		return nil, err
	}
	switch {
	case option == "rootfs" || at == "rootfs":
		return nil, fail("Cannot move to/from 'rootfs'")
	case guestconf.UnusedName.MatchString(option) && !guestconf.UnusedName.MatchString(at):
		return nil, fail("Moving an unused volume to a used one is not possible")
	case to == nil || to.kind != "lxc":
		return nil, fail("could not find CT %s", c.text("target-vmid"))
	case to.node != g.node:
		return nil, fail("Both containers need to be on the same node (%s != %s)", g.node, to.node)
	case g.template() || to.template():
		return nil, fail("Can't move volumes from or to template CT")
	case g.conf[option] == "":
		return nil, fail("volume '%s' for container '%d' does not exist", option, g.vmid)
	case to.conf[at] != "":
		return nil, fail("Target volume key '%s' is already in use for container '%d'", at, to.vmid)
	case g.state != stopped && !guestconf.UnusedName.MatchString(option):
		return nil, fail("Cannot move in-use volume while the source CT is running - detach or shutdown first")
	}
	return c.fork(g.node, "move_volume", itoa(g.vmid)+"-"+itoa(to.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		v := c.s.volume(g.node, guestconf.MountVolume(g.conf[option]))
		if v == nil {
			return fail("Volume '%s' has no associated image", option)
		}
		old, st := v.id, c.s.storages[v.storage]
		c.s.dropVolume(v)
		v.id, v.vmid = st.imageID(to.vmid, ctVolumeName(st, c.s.freeName(st, g.node, to.vmid)), v.format), to.vmid
		c.s.putVolume(v)
		value := g.conf[option]
		delete(g.conf, option)
		to.conf[at] = strings.Replace(value, old, v.id, 1)
		return nil
	}), nil
}
