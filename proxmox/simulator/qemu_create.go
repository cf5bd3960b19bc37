package simulator

import (
	"fmt"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// createVM makes a virtual machine.
func (c *call) createVM() (any, error) {
	w, err := c.change()
	if err != nil {
		return nil, err
	}
	w.pool, w.create = c.text("pool"), true
	if err := c.mayCreate(w); err != nil {
		return nil, err
	}
	if c.has("archive") {
		return c.restoreVM(w)
	}
	if err := c.checkChange(w); err != nil {
		return nil, err
	}
	vmid, node := w.vmid, c.node()
	if err := c.s.freeVMID(vmid); err != nil {
		return nil, err
	}
	c.s.guests[vmid] = &guest{vmid: vmid, kind: "qemu", node: node, conf: map[string]string{"lock": "create"}, state: stopped}
	c.giveUp = func() { delete(c.s.guests, vmid) }
	return c.fork(node, "qmcreate", itoa(vmid), func(t *task) error { return c.create(t, w, node) }), nil
}

// mayCreate asks for what concerns the machine as a whole.
func (c *call) mayCreate(w *change) error {
	if err := c.s.needQuorum(); err != nil {
		return err
	}
	if err := c.poolExists(w.pool); err != nil {
		return err
	}
	if st := c.text("storage"); st != "" {
		if err := c.check("/storage/"+st, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	if c.flag("ha-managed", false) {
		if err := c.check("/", "Sys.Console"); err != nil {
			return err
		}
	}
	if c.flag("start", false) {
		if err := c.checkVM(w.target, "VM.PowerMgmt"); err != nil {
			return err
		}
	}
	inPlace := c.has("archive") && c.flag("force", false) && c.s.guests[w.vmid] != nil && c.may("/vms/"+itoa(w.vmid), "VM.Backup")
	if c.checkVM(w.target, "VM.Allocate") != nil && !inPlace {
		return denied("")
	}
	return nil
}

func (c *call) create(t *task, w *change, node string) error {
	s := c.s
	conf, err := c.newConfig(t, w, node)
	if err != nil {
		delete(s.guests, w.vmid)
		return fail("unable to create VM %d - %s", w.vmid, flat(err))
	}
	g := s.guests[w.vmid]
	g.conf = conf
	if w.pool != "" && s.acl.Pools[w.pool] != nil {
		s.acl.Pools[w.pool].VMs[w.vmid] = true
		s.acl.Changed()
	}
	if c.flag("ha-managed", false) {
		s.ha.resources["vm:"+itoa(w.vmid)] = &haResource{sid: "vm:" + itoa(w.vmid), state: map[bool]string{true: "started", false: "stopped"}[c.flag("start", false)], fields: map[string]string{}}
		s.manageSoon()
		return nil
	}
	if c.flag("start", false) {
		s.fork(c, node, "qmstart", itoa(w.vmid), func(t *task) error { return s.powerOn(t, node, w.vmid, false) })
	}
	return nil
}

// newConfig allocates disks and fills in what every new machine has.
func (c *call) newConfig(t *task, w *change, node string) (conf map[string]string, err error) {
	conf = map[string]string{}
	var made []*volume
	defer func() {
		if err != nil {
			for _, v := range made {
				c.s.remove(node, v.id)
			}
		}
	}()
	for _, name := range sortedKeys(w.set) {
		value := w.set[name]
		switch {
		case guestconf.DriveName.MatchString(name):
			stored, v, err := c.s.makeDrive(node, w.vmid, name, value)
			if v != nil {
				made = append(made, v)
			}
			if err != nil {
				return nil, err
			}
			conf[name] = stored
		case guestconf.NetName.MatchString(name):
			if conf[name], err = netValue(name, value, c.s.options["mac_prefix"]); err != nil {
				return nil, err
			}
		case name == "tags":
			if err := c.checkTags(w.target, nil, guestconf.TagList(value)); err != nil {
				return nil, err
			}
			conf[name] = strings.Join(guestconf.TagList(value), ";")
		default:
			conf[name] = plainValue(name, value)
		}
	}
	c.s.identify(conf)
	return conf, t.busy()
}

// identify gives a new machine its boot order, its UUID and what else identifies it.
func (s *state) identify(conf map[string]string) {
	if _, set := conf["boot"]; !set {
		conf["boot"] = " "
		if order := guestconf.DefaultBootOrder(conf); len(order) > 0 {
			conf["boot"] = "order=" + strings.Join(order, ";")
		}
	}
	if !strings.Contains(conf["smbios1"], "uuid=") {
		conf["smbios1"] = withUUID(conf["smbios1"])
	}
	if conf["vmgenid"] == "" || conf["vmgenid"] == "1" {
		conf["vmgenid"] = newUUID()
	}
	conf["meta"] = fmt.Sprintf("creation-qemu=%s,ctime=%d", qemuVersion, s.unix())
}
