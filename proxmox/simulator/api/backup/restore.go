package backup

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// Replaceable tells whether a guest's place may be taken by a backup: only with force, and only if the guest is off.
func Replaceable(c *core.Call, old *core.Guest, vmid int, kind string) error {
	switch {
	case old == nil:
		return nil
	case !c.Flag("force", false) || old.Node != c.Node() || old.Kind != c.Kind():
		return core.Fail("unable to restore %s %d - %s", kind, vmid, strings.TrimPrefix(core.Flat(c.State.FreeVMID(vmid)), "unable to create VM "+core.Itoa(vmid)+" - "))
	case old.Lock() != "":
		return core.Fail("unable to restore %s %d - %s is locked (%s)", kind, vmid, kind, old.Lock())
	case old.Conf["protection"] == "1":
		return core.Fail("unable to restore %s %d - protection mode enabled", kind, vmid)
	case old.State != core.Stopped:
		return core.Fail("unable to restore %s %d - %s is running", kind, vmid, strings.ToLower(kind))
	}
	return nil
}

// Reserve puts a locked guest into its place until the task is done.
func Reserve(c *core.Call, old *core.Guest, vmid int, kind, node string) {
	c.State.Guests[vmid] = &core.Guest{VMID: vmid, Kind: kind, Node: node, Conf: map[string]string{"lock": "create"}, State: core.Stopped}
	c.GiveUp = func() {
		delete(c.State.Guests, vmid)
		if old != nil {
			c.State.Guests[vmid] = old
		}
	}
}

// Restore is the task: it allocates the disks anew, takes over the configuration with what the call sets, and removes what the
// guest had before.
func Restore(c *core.Call, t *core.Task, w *guest.Change, old *core.Guest, archived *core.Volume, drive func(c *core.Call, name, value string, vmid int) (string, *core.Volume, error)) error {
	s, conf := c.State, parseConf(string(archived.Data))
	var made []*core.Volume
	undo := func(err error) error {
		for _, v := range made {
			s.DropVolume(v)
		}
		c.GiveUp()
		return err
	}
	for _, name := range core.SortedKeys(conf) {
		if !guestconf.DriveName.MatchString(name) && !guestconf.MountName.MatchString(name) {
			continue
		}
		stored, v, err := drive(c, name, conf[name], w.VMID)
		if err != nil {
			return undo(core.Fail("unable to restore VM %d - %s", w.VMID, core.Flat(err)))
		}
		if v != nil {
			made = append(made, v)
		}
		conf[name] = stored
	}
	if err := t.Busy(); err != nil {
		return undo(err)
	}
	for name, value := range w.Set {
		conf[name] = guest.PlainValue(name, value)
	}
	if c.Flag("unique", false) {
		makeUnique(c, conf)
	}
	if old != nil {
		for _, id := range guest.OwnImages(s, old) {
			s.RemoveVolume(t.Node, id)
		}
	}
	s.Guests[w.VMID].Conf = conf
	if w.Pool != "" && s.ACL.Pools[w.Pool] != nil {
		s.ACL.Pools[w.Pool].VMs[w.VMID] = true
		s.ACL.Changed()
	}
	if c.Flag("start", false) {
		kind := s.KindOf(w.VMID)
		s.Fork(c, t.Node, core.PrefixOf(kind)+"start", core.Itoa(w.VMID), func(t *core.Task) error { return guest.PowerOn(s, t, t.Node, w.VMID, false) })
	}
	return nil
}

// makeUnique gives a restored guest identities of its own.
func makeUnique(c *core.Call, conf map[string]string) {
	for _, name := range core.SortedKeys(conf) {
		if !guestconf.NetName.MatchString(name) {
			continue
		}
		format, key := guestconf.FormatOf(name), "macaddr"
		if c.Kind() == "lxc" {
			format, key = schema.Format("lxc-net"), "hwaddr"
		}
		if card, err := format.ParseProperties(name, conf[name]); err == nil {
			card.Set(key, core.NewMAC(c.State.Options["mac_prefix"]))
			conf[name] = format.Print(card)
		}
	}
	if c.Kind() == "qemu" {
		conf["smbios1"], conf["vmgenid"] = guest.WithUUID(conf["smbios1"]), core.NewUUID()
	}
}
