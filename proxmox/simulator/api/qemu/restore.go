package qemu

import (
	"kubehenge.dev/proxmox/simulator/api/backup"
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// restoreVM makes a machine of a backup. Source: qemu-server src/PVE/API2/Qemu.pm create_vm.
func restoreVM(c *core.Call, w *guest.Change) (any, error) {
	for _, name := range core.SortedKeys(w.Set) {
		if guestconf.DriveName.MatchString(name) {
			return nil, core.Invalid(name, "option conflicts with option 'archive'")
		}
	}
	archived, p, err := backup.Archive(c, c.Text("archive"))
	if err != nil {
		return nil, err
	}
	if err := checkChange(c, w); err != nil {
		return nil, err
	}
	old := c.State.Guests[w.VMID]
	if err := backup.Replaceable(c, old, w.VMID, "VM"); err != nil {
		return nil, err
	}
	node := c.Node()
	backup.Reserve(c, old, w.VMID, "qemu", node)
	return c.Fork(node, "qmrestore", core.Itoa(w.VMID), func(t *core.Task) error {
		if archived == nil || p.Guest != "qemu" {
			c.GiveUp()
			return core.Fail("unable to restore VM %d - no such volume '%s'", w.VMID, c.Text("archive"))
		}
		return backup.Restore(c, t, w, old, archived, restoredDrive)
	}), nil
}

// restoredDrive allocates a disk of the size that the backup tells; CDs stay as they were.
func restoredDrive(c *core.Call, name, value string, vmid int) (string, *core.Volume, error) {
	d, err := guestconf.ParseDrive(name, value)
	if err != nil || !d.Volume() || d.CDROM() && !d.CloudInit() {
		return value, nil, err
	}
	from, _ := core.SplitVolume(d.File())
	st, err := c.State.StorageOn(c.Node(), core.Or(c.Text("storage"), from))
	if err != nil {
		return "", nil, err
	}
	size := guestconf.SizeIn(value)
	if !c.State.Fits(st, c.Node(), size) {
		return "", nil, core.Fail("unable to create image: No space left on device")
	}
	disk := c.State.FreeName(st, c.Node(), vmid)
	if d.CloudInit() {
		disk = "vm-" + core.Itoa(vmid) + "-cloudinit"
	}
	v := c.State.Allocate(st, c.Node(), vmid, disk, "raw", core.Or(size, guest.CloudInitSize))
	d.Set("file", v.ID)
	d.Delete("format")
	return d.String(), v, nil
}
