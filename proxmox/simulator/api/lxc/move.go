package lxc

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

func moveVolume(c *core.Call) (any, error) {
	if c.Has("storage") == c.Has("target-vmid") {
		if c.Has("storage") {
			return nil, core.Fail("either set storage or target-vmid, but not both")
		}
		return nil, core.Fail("Provide either a 'storage' to move the mount point to a different storage or 'target-vmid' and 'target-mp' to move the mount point to another container")
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	if c.Has("target-vmid") {
		return giveVolume(c, g)
	}
	return moveVolumeTo(c, g)
}

func moveVolumeTo(c *core.Call, g *core.Guest) (any, error) {
	if err := c.Check("/storage/"+c.Text("storage"), "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	option := c.Text("volume")
	switch {
	case g.State != core.Stopped:
		return nil, core.Fail("cannot move volumes of a running container")
	case guestconf.UnusedName.MatchString(option):
		return nil, core.Fail("cannot move volume '%s', only configured volumes can be moved to another storage", option)
	}
	st, err := c.State.StorageOn(g.Node, c.Text("storage"))
	if err != nil {
		return nil, err
	}
	if err := core.Unmodified(g.Digest(), c.Text("digest")); err != nil {
		return nil, err
	}
	old := c.State.Volume(g.Node, guestconf.MountVolume(g.Conf[option]))
	if old == nil {
		return nil, core.Fail("no '%s' configured", option)
	}
	g.Conf["lock"] = "disk"
	c.GiveUp = func() { delete(g.Conf, "lock") }
	return c.Fork(g.Node, "move_volume", core.Itoa(g.VMID), func(t *core.Task) error {
		err := t.Busy()
		delete(g.Conf, "lock")
		if err != nil {
			return err
		}
		v := allocateCT(c.State, st, g.Node, g.VMID, old.Size)
		conf := core.CopyMap(g.Conf)
		conf[option] = strings.Replace(conf[option], old.ID, v.ID, 1)
		if c.Flag("delete", false) {
			c.State.DropVolume(old)
		} else {
			conf[core.FreeUnused(conf)] = old.ID
		}
		g.Conf = conf
		return nil
	}), nil
}

// giveVolume renames a volume so that it belongs to another container of the node.
func giveVolume(c *core.Call, g *core.Guest) (any, error) {
	option := c.Text("volume")
	at := core.Or(c.Text("target-volume"), option)
	to := c.State.Guests[c.Number("target-vmid", 0)]
	if err := c.Check("/vms/"+c.Text("target-vmid"), "VM.Config.Disk"); err != nil {
		return nil, err
	}
	switch {
	case option == "rootfs" || at == "rootfs":
		return nil, core.Fail("Cannot move to/from 'rootfs'")
	case guestconf.UnusedName.MatchString(option) && !guestconf.UnusedName.MatchString(at):
		return nil, core.Fail("Moving an unused volume to a used one is not possible")
	case to == nil || to.Kind != "lxc":
		return nil, core.Fail("could not find CT %s", c.Text("target-vmid"))
	case to.Node != g.Node:
		return nil, core.Fail("Both containers need to be on the same node (%s != %s)", g.Node, to.Node)
	case g.Template() || to.Template():
		return nil, core.Fail("Can't move volumes from or to template CT")
	case g.Conf[option] == "":
		return nil, core.Fail("volume '%s' for container '%d' does not exist", option, g.VMID)
	case to.Conf[at] != "":
		return nil, core.Fail("Target volume key '%s' is already in use for container '%d'", at, to.VMID)
	case g.State != core.Stopped && !guestconf.UnusedName.MatchString(option):
		return nil, core.Fail("Cannot move in-use volume while the source CT is running - detach or shutdown first")
	}
	return c.Fork(g.Node, "move_volume", core.Itoa(g.VMID)+"-"+core.Itoa(to.VMID), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		v := c.State.Volume(g.Node, guestconf.MountVolume(g.Conf[option]))
		if v == nil {
			return core.Fail("Volume '%s' has no associated image", option)
		}
		old, st := v.ID, c.State.Storages[v.Storage]
		c.State.DropVolume(v)
		v.ID, v.VMID = st.ImageID(to.VMID, ctVolumeName(st, c.State.FreeName(st, g.Node, to.VMID)), v.Format), to.VMID
		c.State.PutVolume(v)
		value := g.Conf[option]
		delete(g.Conf, option)
		to.Conf[at] = strings.Replace(value, old, v.ID, 1)
		return nil
	}), nil
}
