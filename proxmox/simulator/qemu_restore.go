package simulator

import "kubehenge.dev/proxmox/simulator/guestconf"

// restoreVM makes a machine of a backup. Source: qemu-server src/PVE/API2/Qemu.pm create_vm.
func (c *call) restoreVM(w *change) (any, error) {
	for _, name := range sortedKeys(w.set) {
		if guestconf.DriveName.MatchString(name) {
			return nil, invalid(name, "option conflicts with option 'archive'")
		}
	}
	archived, p, err := c.archive(c.text("archive"))
	if err != nil {
		return nil, err
	}
	if err := c.checkChange(w); err != nil {
		return nil, err
	}
	old := c.s.guests[w.vmid]
	if err := c.replaceable(old, w.vmid, "VM"); err != nil {
		return nil, err
	}
	node := c.node()
	c.reserve(old, w.vmid, "qemu", node)
	return c.fork(node, "qmrestore", itoa(w.vmid), func(t *task) error {
		if archived == nil || p.guest != "qemu" {
			c.giveUp()
			return fail("unable to restore VM %d - no such volume '%s'", w.vmid, c.text("archive"))
		}
		return c.restore(t, w, old, archived, (*call).restoredDrive)
	}), nil
}

// restoredDrive allocates a disk of the size that the backup tells; CDs stay as they were.
func (c *call) restoredDrive(name, value string, vmid int) (string, *volume, error) {
	d, err := guestconf.ParseDrive(name, value)
	if err != nil || !d.Volume() || d.CDROM() && !d.CloudInit() {
		return value, nil, err
	}
	from, _ := splitVolume(d.File())
	st, err := c.s.storageOn(c.node(), or(c.text("storage"), from))
	if err != nil {
		return "", nil, err
	}
	size := guestconf.SizeIn(value)
	if !c.s.fits(st, c.node(), size) {
		return "", nil, fail("unable to create image: No space left on device")
	}
	disk := c.s.freeName(st, c.node(), vmid)
	if d.CloudInit() {
		disk = "vm-" + itoa(vmid) + "-cloudinit"
	}
	v := c.s.allocate(st, c.node(), vmid, disk, "raw", or(size, cloudInitSize))
	d.Set("file", v.id)
	d.Delete("format")
	return d.String(), v, nil
}
