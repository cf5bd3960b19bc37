package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

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

// replaceable tells whether a guest's place may be taken by a backup: only with force, and only if the guest is off.
func (c *call) replaceable(old *guest, vmid int, kind string) error {
	switch {
	case old == nil:
		return nil
	case !c.flag("force", false) || old.node != c.node() || old.kind != c.kind():
		return fail("unable to restore %s %d - %s", kind, vmid, strings.TrimPrefix(flat(c.s.freeVMID(vmid)), "unable to create VM "+itoa(vmid)+" - "))
	case old.lock() != "":
		return fail("unable to restore %s %d - %s is locked (%s)", kind, vmid, kind, old.lock())
	case old.conf["protection"] == "1":
		return fail("unable to restore %s %d - protection mode enabled", kind, vmid)
	case old.state != stopped:
		return fail("unable to restore %s %d - %s is running", kind, vmid, strings.ToLower(kind))
	}
	return nil
}

// reserve puts a locked guest into its place until the task is done.
func (c *call) reserve(old *guest, vmid int, kind, node string) {
	c.s.guests[vmid] = &guest{vmid: vmid, kind: kind, node: node, conf: map[string]string{"lock": "create"}, state: stopped}
	c.giveUp = func() {
		delete(c.s.guests, vmid)
		if old != nil {
			c.s.guests[vmid] = old
		}
	}
}

// restore is the task: it allocates the disks anew, takes over the configuration with what the call sets, and removes what the
// guest had before.
func (c *call) restore(t *task, w *change, old *guest, archived *volume, drive func(c *call, name, value string, vmid int) (string, *volume, error)) error {
	s, conf := c.s, parseConf(string(archived.data))
	var made []*volume
	undo := func(err error) error {
		for _, v := range made {
			s.dropVolume(v)
		}
		c.giveUp()
		return err
	}
	for _, name := range sortedKeys(conf) {
		if !guestconf.DriveName.MatchString(name) && !guestconf.MountName.MatchString(name) {
			continue
		}
		stored, v, err := drive(c, name, conf[name], w.vmid)
		if err != nil {
			return undo(fail("unable to restore VM %d - %s", w.vmid, flat(err)))
		}
		if v != nil {
			made = append(made, v)
		}
		conf[name] = stored
	}
	if err := t.busy(); err != nil {
		return undo(err)
	}
	for name, value := range w.set {
		conf[name] = plainValue(name, value)
	}
	if c.flag("unique", false) {
		c.makeUnique(conf)
	}
	if old != nil {
		for _, id := range s.ownImages(old) {
			s.remove(t.node, id)
		}
	}
	s.guests[w.vmid].conf = conf
	if w.pool != "" && s.acl.Pools[w.pool] != nil {
		s.acl.Pools[w.pool].VMs[w.vmid] = true
		s.acl.Changed()
	}
	if c.flag("start", false) {
		kind := s.kindOf(w.vmid)
		s.fork(c, t.node, prefixOf(kind)+"start", itoa(w.vmid), func(t *task) error { return s.powerOn(t, t.node, w.vmid, false) })
	}
	return nil
}

// makeUnique gives a restored guest identities of its own.
func (c *call) makeUnique(conf map[string]string) {
	for _, name := range sortedKeys(conf) {
		if !guestconf.NetName.MatchString(name) {
			continue
		}
		format, key := guestconf.FormatOf(name), "macaddr"
		if c.kind() == "lxc" {
			format, key = schema.Format("lxc-net"), "hwaddr"
		}
		if card, err := format.ParseProperties(name, conf[name]); err == nil {
			card.Set(key, newMAC(c.s.options["mac_prefix"]))
			conf[name] = format.Print(card)
		}
	}
	if c.kind() == "qemu" {
		conf["smbios1"], conf["vmgenid"] = withUUID(conf["smbios1"]), newUUID()
	}
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
