package qemu

import (
	"fmt"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// createVM makes a virtual machine.
func createVM(c *core.Call) (any, error) {
	w, err := change(c)
	if err != nil {
		return nil, err
	}
	w.Pool, w.Create = c.Text("pool"), true
	if err := mayCreate(c, w); err != nil {
		return nil, err
	}
	if c.Has("archive") {
		return restoreVM(c, w)
	}
	if err := checkChange(c, w); err != nil {
		return nil, err
	}
	vmid, node := w.VMID, c.Node()
	if err := c.State.FreeVMID(vmid); err != nil {
		return nil, err
	}
	c.State.Guests[vmid] = &core.Guest{VMID: vmid, Kind: "qemu", Node: node, Conf: map[string]string{"lock": "create"}, State: core.Stopped}
	c.GiveUp = func() { delete(c.State.Guests, vmid) }
	return c.Fork(node, "qmcreate", core.Itoa(vmid), func(t *core.Task) error { return create(c, t, w, node) }), nil
}

// mayCreate asks for what concerns the machine as a whole.
func mayCreate(c *core.Call, w *guest.Change) error {
	if err := c.State.NeedQuorum(); err != nil {
		return err
	}
	if err := c.PoolExists(w.Pool); err != nil {
		return err
	}
	if st := c.Text("storage"); st != "" {
		if err := c.Check("/storage/"+st, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	if c.Flag("ha-managed", false) {
		if err := c.Check("/", "Sys.Console"); err != nil {
			return err
		}
	}
	if c.Flag("start", false) {
		if err := guest.CheckVM(c, w.Target, "VM.PowerMgmt"); err != nil {
			return err
		}
	}
	inPlace := c.Has("archive") && c.Flag("force", false) && c.State.Guests[w.VMID] != nil && c.May("/vms/"+core.Itoa(w.VMID), "VM.Backup")
	if guest.CheckVM(c, w.Target, "VM.Allocate") != nil && !inPlace {
		return core.Denied("")
	}
	return nil
}

func create(c *core.Call, t *core.Task, w *guest.Change, node string) error {
	s := c.State
	conf, err := newConfig(c, t, w, node)
	if err != nil {
		delete(s.Guests, w.VMID)
		return core.Fail("unable to create VM %d - %s", w.VMID, core.Flat(err))
	}
	g := s.Guests[w.VMID]
	g.Conf = conf
	if w.Pool != "" && s.ACL.Pools[w.Pool] != nil {
		s.ACL.Pools[w.Pool].VMs[w.VMID] = true
		s.ACL.Changed()
	}
	if c.Flag("ha-managed", false) {
		s.HA.Resources["vm:"+core.Itoa(w.VMID)] = &core.HAResource{SID: "vm:" + core.Itoa(w.VMID), State: map[bool]string{true: "started", false: "stopped"}[c.Flag("start", false)], Fields: map[string]string{}}
		s.ManageSoon()
		return nil
	}
	if c.Flag("start", false) {
		s.Fork(c, node, "qmstart", core.Itoa(w.VMID), func(t *core.Task) error { return guest.PowerOn(s, t, node, w.VMID, false) })
	}
	return nil
}

// newConfig allocates disks and fills in what every new machine has.
func newConfig(c *core.Call, t *core.Task, w *guest.Change, node string) (conf map[string]string, err error) {
	conf = map[string]string{}
	var made []*core.Volume
	defer func() {
		if err != nil {
			for _, v := range made {
				c.State.RemoveVolume(node, v.ID)
			}
		}
	}()
	for _, name := range core.SortedKeys(w.Set) {
		value := w.Set[name]
		switch {
		case guestconf.DriveName.MatchString(name):
			stored, v, err := MakeDrive(c.State, node, w.VMID, name, value)
			if v != nil {
				made = append(made, v)
			}
			if err != nil {
				return nil, err
			}
			conf[name] = stored
		case guestconf.NetName.MatchString(name):
			if conf[name], err = NetValue(name, value, c.State.Options["mac_prefix"]); err != nil {
				return nil, err
			}
		case name == "tags":
			if err := guest.CheckTags(c, w.Target, nil, guestconf.TagList(value)); err != nil {
				return nil, err
			}
			conf[name] = strings.Join(guestconf.TagList(value), ";")
		default:
			conf[name] = guest.PlainValue(name, value)
		}
	}
	Identify(c.State, conf)
	return conf, t.Busy()
}

// Identify gives a new machine its boot order, its UUID and what else identifies it.
func Identify(s *core.State, conf map[string]string) {
	if _, set := conf["boot"]; !set {
		conf["boot"] = " "
		if order := guestconf.DefaultBootOrder(conf); len(order) > 0 {
			conf["boot"] = "order=" + strings.Join(order, ";")
		}
	}
	if !strings.Contains(conf["smbios1"], "uuid=") {
		conf["smbios1"] = guest.WithUUID(conf["smbios1"])
	}
	if conf["vmgenid"] == "" || conf["vmgenid"] == "1" {
		conf["vmgenid"] = core.NewUUID()
	}
	conf["meta"] = fmt.Sprintf("creation-qemu=%s,ctime=%d", core.QEMUVersion, s.Unix())
}
