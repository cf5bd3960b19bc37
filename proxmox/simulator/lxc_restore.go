package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// restoreCT makes a container of a backup. Source: pve-container src/PVE/API2/LXC.pm create_vm.
func (c *call) restoreCT(w *change) (any, error) {
	archived, p, err := c.archive(c.text("ostemplate"))
	if err != nil {
		return nil, err
	}
	old := c.s.guests[w.vmid]
	if err := c.replaceable(old, w.vmid, "CT"); err != nil {
		return nil, err
	}
	for name := range w.set {
		if guestconf.MountName.MatchString(name) {
			delete(w.set, name)
		}
	}
	node := c.node()
	c.reserve(old, w.vmid, "lxc", node)
	return c.fork(node, "vzrestore", itoa(w.vmid), func(t *task) error {
		if archived == nil || p.guest != "lxc" {
			c.giveUp()
			return fail("unable to restore CT %d - no such volume '%s'", w.vmid, c.text("ostemplate"))
		}
		return c.restore(t, w, old, archived, (*call).restoredMount)
	}), nil
}

func (c *call) restoredMount(name, value string, vmid int) (string, *volume, error) {
	from, _ := splitVolume(guestconf.MountVolume(value))
	st, err := c.s.storageOn(c.node(), or(c.text("storage"), from))
	if err != nil {
		return "", nil, err
	}
	size := guestconf.SizeIn(value)
	if !c.s.fits(st, c.node(), size) {
		return "", nil, fail("unable to create image: No space left on device")
	}
	v := c.s.allocateCT(st, c.node(), vmid, size)
	return strings.Replace(value, guestconf.MountVolume(value), v.id, 1), v, nil
}
