package simulator

import "kubehenge.dev/proxmox/simulator/guestconf"

// restoreVM makes a machine of a backup. Source: qemu-server src/PVE/API2/Qemu.pm create_vm.
func restoreVM(c *call, w *Change) (any, error) {
	for _, name := range SortedKeys(w.Set) {
		if guestconf.DriveName.MatchString(name) {
			return nil, Invalid(name, "option conflicts with option 'archive'")
		}
	}
	archived, p, err := Archive(c, c.Text("archive"))
	if err != nil {
		return nil, err
	}
	if err := checkChange(c, w); err != nil {
		return nil, err
	}
	old := c.State.Guests[w.VMID]
	if err := Replaceable(c, old, w.VMID, "VM"); err != nil {
		return nil, err
	}
	node := c.Node()
	Reserve(c, old, w.VMID, "qemu", node)
	return c.Fork(node, "qmrestore", Itoa(w.VMID), func(t *task) error {
		if archived == nil || p.Guest != "qemu" {
			c.GiveUp()
			return Fail("unable to restore VM %d - no such volume '%s'", w.VMID, c.Text("archive"))
		}
		return Restore(c, t, w, old, archived, restoredDrive)
	}), nil
}

// restoredDrive allocates a disk of the size that the backup tells; CDs stay as they were.
func restoredDrive(c *call, name, value string, vmid int) (string, *volume, error) {
	d, err := guestconf.ParseDrive(name, value)
	if err != nil || !d.Volume() || d.CDROM() && !d.CloudInit() {
		return value, nil, err
	}
	from, _ := SplitVolume(d.File())
	st, err := c.State.StorageOn(c.Node(), Or(c.Text("storage"), from))
	if err != nil {
		return "", nil, err
	}
	size := guestconf.SizeIn(value)
	if !c.State.Fits(st, c.Node(), size) {
		return "", nil, Fail("unable to create image: No space left on device")
	}
	disk := c.State.FreeName(st, c.Node(), vmid)
	if d.CloudInit() {
		disk = "vm-" + Itoa(vmid) + "-cloudinit"
	}
	v := c.State.Allocate(st, c.Node(), vmid, disk, "raw", Or(size, CloudInitSize))
	d.Set("file", v.ID)
	d.Delete("format")
	return d.String(), v, nil
}
