package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// restoreCT makes a container of a backup. Source: pve-container src/PVE/API2/LXC.pm create_vm.
func restoreCT(c *call, w *Change) (any, error) {
	archived, p, err := Archive(c, c.Text("ostemplate"))
	if err != nil {
		return nil, err
	}
	old := c.State.Guests[w.VMID]
	if err := Replaceable(c, old, w.VMID, "CT"); err != nil {
		return nil, err
	}
	for name := range w.Set {
		if guestconf.MountName.MatchString(name) {
			delete(w.Set, name)
		}
	}
	node := c.Node()
	Reserve(c, old, w.VMID, "lxc", node)
	return c.Fork(node, "vzrestore", Itoa(w.VMID), func(t *task) error {
		if archived == nil || p.Guest != "lxc" {
			c.GiveUp()
			return Fail("unable to restore CT %d - no such volume '%s'", w.VMID, c.Text("ostemplate"))
		}
		return Restore(c, t, w, old, archived, restoredMount)
	}), nil
}

func restoredMount(c *call, name, value string, vmid int) (string, *volume, error) {
	from, _ := SplitVolume(guestconf.MountVolume(value))
	st, err := c.State.StorageOn(c.Node(), Or(c.Text("storage"), from))
	if err != nil {
		return "", nil, err
	}
	size := guestconf.SizeIn(value)
	if !c.State.Fits(st, c.Node(), size) {
		return "", nil, Fail("unable to create image: No space left on device")
	}
	v := allocateCT(c.State, st, c.Node(), vmid, size)
	return strings.Replace(value, guestconf.MountVolume(value), v.ID, 1), v, nil
}
