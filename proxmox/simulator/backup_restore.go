package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

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
