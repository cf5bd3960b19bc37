package lxc

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/api/backup"
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// restoreCT makes a container of a backup. Source: pve-container src/PVE/API2/LXC.pm create_vm.
func restoreCT(c *core.Call, w *guest.Change) (any, error) {
	archived, p, err := backup.Archive(c, c.Text("ostemplate"))
	if err != nil {
		return nil, err
	}
	old := c.State.Guests[w.VMID]
	if err := backup.Replaceable(c, old, w.VMID, "CT"); err != nil {
		return nil, err
	}
	for name := range w.Set {
		if guestconf.MountName.MatchString(name) {
			delete(w.Set, name)
		}
	}
	node := c.Node()
	backup.Reserve(c, old, w.VMID, "lxc", node)
	return c.Fork(node, "vzrestore", core.Itoa(w.VMID), func(t *core.Task) error {
		if archived == nil || p.Guest != "lxc" {
			c.GiveUp()
			return core.Fail("unable to restore CT %d - no such volume '%s'", w.VMID, c.Text("ostemplate"))
		}
		return backup.Restore(c, t, w, old, archived, restoredMount)
	}), nil
}

func restoredMount(c *core.Call, name, value string, vmid int) (string, *core.Volume, error) {
	from, _ := core.SplitVolume(guestconf.MountVolume(value))
	st, err := c.State.StorageOn(c.Node(), core.Or(c.Text("storage"), from))
	if err != nil {
		return "", nil, err
	}
	size := guestconf.SizeIn(value)
	if !c.State.Fits(st, c.Node(), size) {
		return "", nil, core.Fail("unable to create image: No space left on device")
	}
	v := allocateCT(c.State, st, c.Node(), vmid, size)
	return strings.Replace(value, guestconf.MountVolume(value), v.ID, 1), v, nil
}
