package qemu

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// edit is a configuration while it is changed: nothing of it counts before all went well.
type edit struct {
	c       *core.Call
	g       *core.Guest
	w       *guest.Change
	conf    map[string]string
	pending map[string]string
	removed map[string]bool
	made    []*core.Volume
}

// apply changes a machine's configuration: at once where that is possible, else at its next start.
func apply(c *core.Call, g *core.Guest, w *guest.Change, say func(string, ...any)) error {
	if err := c.Writable(g); err != nil {
		return err
	}
	e := &edit{c: c, g: g, w: w, conf: maps.Clone(g.Conf), pending: maps.Clone(g.Pending), removed: maps.Clone(g.Removed)}
	if e.pending == nil {
		e.pending = map[string]string{}
	}
	if e.removed == nil {
		e.removed = map[string]bool{}
	}
	steps := []func() error{e.revert, e.remove, e.put, e.bootCDs, e.checkBoot, e.checkMemory}
	for _, step := range steps {
		if err := step(); err != nil {
			for _, v := range e.made {
				c.State.RemoveVolume(g.Node, v.ID)
			}
			return err
		}
	}
	err := e.flush(g.State != core.Stopped)
	say("update VM %d: %s", g.VMID, strings.Join(append(core.SortedKeys(w.Set), w.Remove...), " "))
	g.Conf, g.Pending, g.Removed = e.conf, e.pending, e.removed
	return err
}

func (e *edit) revert() error {
	for _, name := range e.w.Revert {
		delete(e.removed, name)
		delete(e.pending, name)
	}
	return nil
}

func (e *edit) remove() error {
	for _, name := range e.w.Remove {
		value, there := e.conf[name]
		if !there {
			value, there = e.pending[name]
		}
		if !there {
			continue // only a warning in the task's log
		}
		if err := e.mayRemove(name, value); err != nil {
			return err
		}
		delete(e.pending, name)
		e.removed[name] = e.w.Force
	}
	return nil
}

func (e *edit) mayRemove(name, value string) error {
	switch {
	case name == "tags":
		return guest.CheckTags(e.c, e.w.Target, guestconf.TagList(value), nil)
	case guestconf.DriveName.MatchString(name):
		d, err := guestconf.ParseDrive(name, value)
		if err != nil {
			return err
		}
		for _, p := range drivePrivileges(d) {
			if err := guest.CheckVM(e.c, e.w.Target, p); err != nil {
				return err
			}
		}
		if !d.CDROM() && e.conf["protection"] == "1" {
			return core.Fail("can't remove drive '%s' - protection mode enabled", name)
		}
	case guestconf.UnusedName.MatchString(name) && e.conf["protection"] == "1":
		return core.Fail("can't remove unused disk '%s' - protection mode enabled", value)
	}
	return nil
}

func (e *edit) put() error {
	for _, name := range core.SortedKeys(e.w.Set) {
		value, err := e.value(name, e.w.Set[name])
		if err != nil {
			return err
		}
		delete(e.removed, name)
		delete(e.pending, name)
		if value != e.conf[name] || e.conf[name] == "" {
			e.pending[name] = value
		}
	}
	return nil
}

// value is an option's value as it is stored.
func (e *edit) value(name, value string) (string, error) {
	switch {
	case guestconf.DriveName.MatchString(name):
		return e.driveValue(name, value)
	case guestconf.UnusedName.MatchString(name):
		if e.c.State.Volume(e.g.Node, value) == nil {
			return "", core.Fail("volume '%s' does not exist", value)
		}
		return value, nil
	case guestconf.NetName.MatchString(name):
		return NetValue(name, value, e.c.State.Options["mac_prefix"])
	case name == "tags":
		tags := guestconf.TagList(value)
		return strings.Join(tags, ";"), guest.CheckTags(e.c, e.w.Target, guestconf.TagList(e.conf["tags"]), tags)
	}
	return guest.PlainValue(name, value), nil
}

func (e *edit) driveValue(name, value string) (string, error) {
	d, err := guestconf.ParseDrive(name, value)
	if err != nil {
		return "", err
	}
	if d.CDROM() || d.CloudInit() {
		for _, p := range drivePrivileges(d) {
			if err := guest.CheckVM(e.c, e.w.Target, p); err != nil {
				return "", err
			}
		}
	}
	stored, made, err := MakeDrive(e.c.State, e.g.Node, e.g.VMID, name, value)
	if made != nil {
		e.made = append(e.made, made)
	}
	return stored, err
}

// NetValue fills in a MAC address where none is given.
func NetValue(name, value, prefix string) (string, error) {
	format := guestconf.FormatOf(name)
	card, err := format.ParseProperties(name, value)
	if err != nil {
		return "", err
	}
	if _, ok := card.Get("macaddr"); !ok {
		card.Set("macaddr", core.NewMAC(prefix))
	}
	model, mac := card.Values["model"], strings.ToUpper(card.Values["macaddr"])
	card.Delete("macaddr")
	rest := strings.TrimPrefix(format.Print(card), model)
	return model + "=" + mac + rest, nil
}

// bootCDs adds new CD drives to a boot order that is set, so that the machine can boot from them.
func (e *edit) bootCDs() error {
	_, changed := e.w.Set["boot"]
	boot := e.conf["boot"]
	if p, ok := e.pending["boot"]; ok {
		boot = p
	}
	if changed || !strings.HasPrefix(boot, "order=") {
		return nil
	}
	order := strings.Split(strings.TrimPrefix(boot, "order="), ";")
	for _, name := range core.SortedKeys(e.w.Set) {
		if !guestconf.DriveName.MatchString(name) || slices.Contains(order, name) {
			continue
		}
		if d, err := guestconf.ParseDrive(name, e.pending[name]); err == nil && d.CDROM() && !d.CloudInit() {
			order = append(order, name)
			e.pending["boot"] = "order=" + strings.Join(order, ";")
		}
	}
	return nil
}

func (e *edit) checkBoot() error {
	boot, ok := e.w.Set["boot"]
	if !ok {
		return nil
	}
	order, _ := strings.CutPrefix(boot, "order=")
	for _, device := range strings.FieldsFunc(order, func(r rune) bool { return r == ';' }) {
		_, there := e.conf[device]
		_, coming := e.pending[device]
		if _, goes := e.removed[device]; (!there || goes) && !coming && strings.HasPrefix(boot, "order=") {
			return core.Fail("invalid bootorder: device '%s' does not exist'", device)
		}
	}
	return nil
}

func (e *edit) checkMemory() error {
	balloon, ok := e.w.Set["balloon"]
	if !ok {
		return nil
	}
	wanted := (&core.Guest{Conf: map[string]string{"memory": e.conf["memory"]}}).Memory()
	if m, ok := e.pending["memory"]; ok {
		wanted = (&core.Guest{Conf: map[string]string{"memory": m}}).Memory()
	}
	if core.Atoi64(balloon)<<20 > wanted {
		return core.Fail("balloon value too large (must be smaller than assigned memory)")
	}
	return nil
}

// flush moves into the configuration what can be: all while the machine is off. What fails stays pending.
func (e *edit) flush(isOn bool) error {
	errs := schema.Errors{}
	failed := func(name string, err error) {
		errs[name] = "unable to apply pending change " + name + " : " + core.Flat(err) + "\n"
	}
	for _, name := range core.SortedKeys(e.removed) {
		force := e.removed[name]
		if isOn && !e.live(name, "") {
			continue
		}
		if err := e.drop(name, force); err != nil {
			failed(name, err)
			continue
		}
		delete(e.removed, name)
	}
	for _, name := range core.SortedKeys(e.pending) {
		value := e.pending[name]
		if isOn && !e.live(name, value) {
			continue
		}
		if err := e.store(name, value); err != nil {
			failed(name, err)
			continue
		}
		delete(e.pending, name)
	}
	if len(errs) > 0 {
		return core.InvalidAll(errs)
	}
	return nil
}

// live tells whether a change takes effect in a running machine. A CD may be changed, a drive for it not be plugged in.
func (e *edit) live(name, value string) bool {
	if guestconf.VMOptions()[name].Live {
		return true
	}
	if !guestconf.DriveName.MatchString(name) || value == "" || e.conf[name] == "" {
		return false
	}
	old, err := guestconf.ParseDrive(name, e.conf[name])
	if err != nil {
		return false
	}
	now, err := guestconf.ParseDrive(name, value)
	return err == nil && old.CDROM() && now.CDROM()
}

// drop deletes an option from the configuration.
func (e *edit) drop(name string, force bool) error {
	if !guestconf.DriveName.MatchString(name) && !guestconf.UnusedName.MatchString(name) {
		delete(e.conf, name)
	} else if _, there := e.conf[name]; there {
		if err := detach(e.c, e.g, e.conf, name, force); err != nil {
			return err
		}
	}
	e.unboot(name)
	return nil
}

// unboot takes a device out of the boot order.
func (e *edit) unboot(name string) {
	order, ok := strings.CutPrefix(e.conf["boot"], "order=")
	if !ok {
		return
	}
	list := strings.Split(order, ";")
	if !slices.Contains(list, name) {
		return
	}
	list = slices.DeleteFunc(list, func(d string) bool { return d == name })
	e.conf["boot"] = "order=" + strings.Join(list, ";")
	if len(list) == 0 {
		e.conf["boot"] = " "
	}
}

// store puts a value into the configuration; a disk that was there before is detached first.
func (e *edit) store(name, value string) error {
	if guestconf.DriveName.MatchString(name) {
		now, err := guestconf.ParseDrive(name, value)
		if err != nil {
			return err
		}
		if old, there := e.conf[name]; there {
			if d, err := guestconf.ParseDrive(name, old); err == nil && d.File() != now.File() {
				if err := detach(e.c, e.g, e.conf, name, false); err != nil {
					return err
				}
			}
		}
		for option, id := range e.conf {
			if guestconf.UnusedName.MatchString(option) && id == now.File() {
				delete(e.conf, option)
			}
		}
	}
	e.conf[name] = value
	return nil
}
