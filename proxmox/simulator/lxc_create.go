package simulator

import (
	"maps"
	"regexp"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// notCT are parameters of the call that makes a container which are no options of it.
var notCT = []string{"node", "vmid", "ostemplate", "password", "storage", "force", "restore", "unique", "pool", "ignore-unpack-errors", "ssh-public-keys",
	"bwlimit", "start", "ha-managed", "unprivileged"}

// createCT makes a container. Source: pve-container src/PVE/API2/LXC.pm create_vm.
func (c *call) createCT() (any, error) {
	w := &change{target: target{vmid: c.vmid(), pool: c.text("pool"), create: true}, set: map[string]string{}}
	for name := range c.params {
		w.set[name] = c.text(name)
	}
	for _, name := range notCT {
		delete(w.set, name)
	}
	maps.DeleteFunc(w.set, func(name, _ string) bool { return guestconf.UnusedName.MatchString(name) })
	if c.flag("restore", false) {
		if err := c.mayCreateCT(w); err != nil {
			return nil, err
		}
		return c.restoreCT(w)
	}
	steps := []func(*call, *change) error{(*call).mayCreateCT, (*call).checkTemplate, (*call).checkMounts}
	for _, step := range steps {
		if err := step(c, w); err != nil {
			return nil, err
		}
	}
	node, vmid := c.node(), w.vmid
	c.s.guests[vmid] = &guest{vmid: vmid, kind: "lxc", node: node, conf: map[string]string{"lock": "create"}, state: stopped}
	c.giveUp = func() { delete(c.s.guests, vmid) }
	return c.fork(node, "vzcreate", itoa(vmid), func(t *task) error { return c.makeCT(t, w, node) }), nil
}

// mayCreateCT asks for what concerns the container as a whole, in Proxmox VE's order.
func (c *call) mayCreateCT(w *change) error {
	if err := c.s.needQuorum(); err != nil {
		return err
	}
	if !c.flag("unprivileged", true) {
		if err := c.check("/", "Sys.Modify"); err != nil {
			return err
		}
	}
	if c.flag("ha-managed", false) {
		if err := c.check("/", "Sys.Console"); err != nil {
			return err
		}
	}
	if g := c.s.guests[w.vmid]; g != nil && !c.flag("restore", false) {
		return fail("%s %d already exists on node '%s'", map[string]string{"qemu": "VM", "lxc": "CT"}[g.kind], w.vmid, g.node)
	}
	if keys := c.text("ssh-public-keys"); keys != "" {
		if err := checkSSHKeys(keys); err != nil {
			return err
		}
	}
	if err := c.poolExists(w.pool); err != nil {
		return err
	}
	if c.checkVM(w.target, "VM.Allocate") != nil {
		return denied("")
	}
	return c.checkCT(w, nil, c.flag("unprivileged", true))
}

func (c *call) checkTemplate(w *change) error {
	name, rest := splitVolume(c.text("ostemplate"))
	st := c.s.storages[name]
	if st == nil {
		return fail("storage '%s' does not exist", name)
	}
	p, err := st.parseVolume(rest)
	if err != nil {
		return err
	}
	if p.content != "vztmpl" {
		return fail("unable to use volume '%s' as template", c.text("ostemplate"))
	}
	return c.mayUse(st, p, w.vmid)
}

// mounts are the volumes that the container is to have; a plain number is a size on the default storage.
func (c *call) mounts(w *change) map[string]string {
	storage := or(c.text("storage"), "local")
	m := map[string]string{}
	for name, value := range w.set {
		if !guestconf.MountName.MatchString(name) {
			continue
		}
		if plainSize.MatchString(value) {
			value = storage + ":" + value
		}
		m[name] = value
	}
	if len(m) == 0 {
		m["rootfs"] = storage + ":4" // GiB
	}
	return m
}

var plainSize = regexp.MustCompile(`\A\d+(\.\d+)?\z`)

func (c *call) checkMounts(w *change) error {
	mounts := c.mounts(w)
	if mounts["rootfs"] == "" {
		return fail("mount points configured, but 'rootfs' not set - aborting")
	}
	for _, name := range sortedKeys(mounts) {
		volume := guestconf.MountVolume(mounts[name])
		if strings.HasPrefix(volume, "/") {
			return fail("Only root can pass arbitrary filesystem paths.")
		}
		storage, _ := splitVolume(volume)
		st, err := c.s.storageOn(c.node(), storage)
		if err != nil {
			return err
		}
		if !st.holds("rootdir") {
			return invalid("storage", "storage '%s' does not support container directories", storage)
		}
		if err := c.check("/storage/"+storage, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	return nil
}

// makeCT is the task; what it made goes again if something goes wrong.
func (c *call) makeCT(t *task, w *change, node string) error {
	s := c.s
	conf, made, err := c.ctConfig(t, w, node)
	if err != nil {
		for _, v := range made {
			s.remove(node, v.id)
		}
		delete(s.guests, w.vmid)
		return fail("unable to create CT %d - %s", w.vmid, flat(err))
	}
	s.guests[w.vmid].conf = conf
	if w.pool != "" && s.acl.Pools[w.pool] != nil {
		s.acl.Pools[w.pool].VMs[w.vmid] = true
		s.acl.Changed()
	}
	start := c.flag("start", false)
	if c.flag("ha-managed", false) {
		sid := "ct:" + itoa(w.vmid)
		s.ha.resources[sid] = &haResource{sid: sid, state: map[bool]string{true: "started", false: "stopped"}[start], fields: map[string]string{}}
		s.manageSoon()
		return nil
	}
	if start {
		s.fork(c, node, "vzstart", itoa(w.vmid), func(t *task) error { return s.powerOn(t, node, w.vmid, false) })
	}
	return nil
}

func (c *call) ctConfig(t *task, w *change, node string) (conf map[string]string, made []*volume, err error) {
	conf = map[string]string{"hostname": "CT" + itoa(w.vmid), "memory": "512", "swap": "512", "arch": "amd64", "ostype": systemOf(c.text("ostemplate"))}
	if c.flag("unprivileged", true) {
		conf["unprivileged"] = "1"
	}
	for _, name := range sortedKeys(w.set) {
		if guestconf.MountName.MatchString(name) {
			continue
		}
		if conf[name], err = c.ctValue(name, w.set[name]); err != nil {
			return nil, made, err
		}
	}
	mounts := c.mounts(w)
	for _, name := range sortedKeys(mounts) {
		stored, v, err := c.s.makeMount(node, w.vmid, name, mounts[name])
		if v != nil {
			made = append(made, v)
		}
		if err != nil {
			return nil, made, err
		}
		conf[name] = stored
	}
	if c.s.volume(node, c.text("ostemplate")) == nil {
		return nil, made, fail("volume '%s' does not exist", c.text("ostemplate"))
	}
	t.say("extracting archive '%s'", c.text("ostemplate"))
	return conf, made, t.busy()
}

// systemOf is the operating system that the name of a template tells.
func systemOf(template string) string {
	_, name, _ := strings.Cut(template, "vztmpl/")
	system, _, _ := strings.Cut(name, "-")
	if p := guestconf.CTOptions()["ostype"]; p.Property != nil {
		for _, known := range p.Enum {
			if system == known {
				return system
			}
		}
	}
	return "unmanaged"
}

// ctValue is an option's value as it is stored.
func (c *call) ctValue(name, value string) (string, error) {
	switch {
	case name == "tags":
		return strings.Join(guestconf.TagList(value), ";"), nil
	case guestconf.NetName.MatchString(name):
		return ctNet(name, value, c.s.options["mac_prefix"])
	}
	return value, nil
}

// ctNet fills in a MAC address and the type of a network card.
func ctNet(name, value, prefix string) (string, error) {
	format := schema.Format("lxc-net")
	card, err := format.ParseProperties(name, value)
	if err != nil {
		return "", err
	}
	if _, ok := card.Get("hwaddr"); !ok {
		card.Set("hwaddr", newMAC(prefix))
	}
	card.Set("hwaddr", strings.ToUpper(card.Values["hwaddr"]))
	card.Set("type", "veth")
	return format.Print(card), nil
}

// makeMount allocates the volume of a mount point, or finds the one that is there.
func (s *state) makeMount(node string, vmid int, name, value string) (string, *volume, error) {
	format := schema.Format(mountFormat(name))
	pairs, err := format.ParseProperties(name, value)
	if err != nil {
		return "", nil, err
	}
	m := newDisk.FindStringSubmatch(pairs.Values["volume"])
	if m == nil {
		v := s.volume(node, pairs.Values["volume"])
		if v == nil {
			return "", nil, fail("volume '%s' does not exist", pairs.Values["volume"])
		}
		pairs.Set("size", schema.FormatSize(v.size))
		return format.Print(pairs), nil, nil
	}
	st, err := s.storageOn(node, m[1])
	if err != nil {
		return "", nil, err
	}
	size, ok := schema.ParseSize(m[2] + "G")
	if !ok || !s.fits(st, node, size) {
		return "", nil, fail("unable to create image: No space left on device")
	}
	v := s.allocateCT(st, node, vmid, size)
	pairs.Set("volume", v.id)
	pairs.Set("size", schema.FormatSize(size))
	return format.Print(pairs), v, nil
}
