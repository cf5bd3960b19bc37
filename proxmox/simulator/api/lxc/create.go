package lxc

import (
	"maps"
	"regexp"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/api/storage"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// notCT are parameters of the call that makes a container which are no options of it.
var notCT = []string{"node", "vmid", "ostemplate", "password", "storage", "force", "restore", "unique", "pool", "ignore-unpack-errors", "ssh-public-keys",
	"bwlimit", "start", "ha-managed", "unprivileged"}

// createCT makes a container. Source: pve-container src/PVE/API2/LXC.pm create_vm.
func createCT(c *core.Call) (any, error) {
	w := &guest.Change{Target: guest.Target{VMID: c.VMID(), Pool: c.Text("pool"), Create: true}, Set: map[string]string{}}
	for name := range c.Params {
		w.Set[name] = c.Text(name)
	}
	for _, name := range notCT {
		delete(w.Set, name)
	}
	maps.DeleteFunc(w.Set, func(name, _ string) bool { return guestconf.UnusedName.MatchString(name) })
	if c.Flag("restore", false) {
		if err := mayCreateCT(c, w); err != nil {
			return nil, err
		}
		return restoreCT(c, w)
	}
	steps := []func(*core.Call, *guest.Change) error{mayCreateCT, checkTemplate, checkMounts}
	for _, step := range steps {
		if err := step(c, w); err != nil {
			return nil, err
		}
	}
	node, vmid := c.Node(), w.VMID
	c.State.Guests[vmid] = &core.Guest{VMID: vmid, Kind: "lxc", Node: node, Conf: map[string]string{"lock": "create"}, State: core.Stopped}
	c.GiveUp = func() { delete(c.State.Guests, vmid) }
	return c.Fork(node, "vzcreate", core.Itoa(vmid), func(t *core.Task) error { return makeCT(c, t, w, node) }), nil
}

// mayCreateCT asks for what concerns the container as a whole, in Proxmox VE's order.
func mayCreateCT(c *core.Call, w *guest.Change) error {
	if err := c.State.NeedQuorum(); err != nil {
		return err
	}
	if !c.Flag("unprivileged", true) {
		if err := c.Check("/", "Sys.Modify"); err != nil {
			return err
		}
	}
	if c.Flag("ha-managed", false) {
		if err := c.Check("/", "Sys.Console"); err != nil {
			return err
		}
	}
	if g := c.State.Guests[w.VMID]; g != nil && !c.Flag("restore", false) {
		return core.Fail("%s %d already exists on node '%s'", map[string]string{"qemu": "VM", "lxc": "CT"}[g.Kind], w.VMID, g.Node)
	}
	if keys := c.Text("ssh-public-keys"); keys != "" {
		if err := guest.CheckSSHKeys(keys); err != nil {
			return err
		}
	}
	if err := c.PoolExists(w.Pool); err != nil {
		return err
	}
	if guest.CheckVM(c, w.Target, "VM.Allocate") != nil {
		return core.Denied("")
	}
	return checkCT(c, w, nil, c.Flag("unprivileged", true))
}

func checkTemplate(c *core.Call, w *guest.Change) error {
	name, rest := core.SplitVolume(c.Text("ostemplate"))
	st := c.State.Storages[name]
	if st == nil {
		return core.Fail("storage '%s' does not exist", name)
	}
	p, err := st.ParseVolume(rest)
	if err != nil {
		return err
	}
	if p.Content != "vztmpl" {
		return core.Fail("unable to use volume '%s' as template", c.Text("ostemplate"))
	}
	return storage.MayUse(c, st, p, w.VMID)
}

// wantedMounts are the volumes that the container is to have; a plain number is a size on the default storage.
func wantedMounts(c *core.Call, w *guest.Change) map[string]string {
	storage := core.Or(c.Text("storage"), "local")
	m := map[string]string{}
	for name, value := range w.Set {
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

func checkMounts(c *core.Call, w *guest.Change) error {
	mounts := wantedMounts(c, w)
	if mounts["rootfs"] == "" {
		return core.Fail("mount points configured, but 'rootfs' not set - aborting")
	}
	for _, name := range core.SortedKeys(mounts) {
		volume := guestconf.MountVolume(mounts[name])
		if strings.HasPrefix(volume, "/") {
			return core.Fail("Only root can pass arbitrary filesystem paths.")
		}
		storage, _ := core.SplitVolume(volume)
		st, err := c.State.StorageOn(c.Node(), storage)
		if err != nil {
			return err
		}
		if !st.Holds("rootdir") {
			return core.Invalid("storage", "storage '%s' does not support container directories", storage)
		}
		if err := c.Check("/storage/"+storage, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	return nil
}

// makeCT is the task; what it made goes again if something goes wrong.
func makeCT(c *core.Call, t *core.Task, w *guest.Change, node string) error {
	s := c.State
	conf, made, err := ctConfig(c, t, w, node)
	if err != nil {
		for _, v := range made {
			s.RemoveVolume(node, v.ID)
		}
		delete(s.Guests, w.VMID)
		return core.Fail("unable to create CT %d - %s", w.VMID, core.Flat(err))
	}
	s.Guests[w.VMID].Conf = conf
	if w.Pool != "" && s.ACL.Pools[w.Pool] != nil {
		s.ACL.Pools[w.Pool].VMs[w.VMID] = true
		s.ACL.Changed()
	}
	start := c.Flag("start", false)
	if c.Flag("ha-managed", false) {
		sid := "ct:" + core.Itoa(w.VMID)
		s.HA.Resources[sid] = &core.HAResource{SID: sid, State: map[bool]string{true: "started", false: "stopped"}[start], Fields: map[string]string{}}
		s.ManageSoon()
		return nil
	}
	if start {
		s.Fork(c, node, "vzstart", core.Itoa(w.VMID), func(t *core.Task) error { return guest.PowerOn(s, t, node, w.VMID, false) })
	}
	return nil
}

func ctConfig(c *core.Call, t *core.Task, w *guest.Change, node string) (conf map[string]string, made []*core.Volume, err error) {
	conf = map[string]string{"hostname": "CT" + core.Itoa(w.VMID), "memory": "512", "swap": "512", "arch": "amd64", "ostype": systemOf(c.Text("ostemplate"))}
	if c.Flag("unprivileged", true) {
		conf["unprivileged"] = "1"
	}
	for _, name := range core.SortedKeys(w.Set) {
		if guestconf.MountName.MatchString(name) {
			continue
		}
		if conf[name], err = ctValue(c, name, w.Set[name]); err != nil {
			return nil, made, err
		}
	}
	mounts := wantedMounts(c, w)
	for _, name := range core.SortedKeys(mounts) {
		stored, v, err := makeMount(c.State, node, w.VMID, name, mounts[name])
		if v != nil {
			made = append(made, v)
		}
		if err != nil {
			return nil, made, err
		}
		conf[name] = stored
	}
	if c.State.Volume(node, c.Text("ostemplate")) == nil {
		return nil, made, core.Fail("volume '%s' does not exist", c.Text("ostemplate"))
	}
	t.Say("extracting archive '%s'", c.Text("ostemplate"))
	return conf, made, t.Busy()
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
func ctValue(c *core.Call, name, value string) (string, error) {
	switch {
	case name == "tags":
		return strings.Join(guestconf.TagList(value), ";"), nil
	case guestconf.NetName.MatchString(name):
		return NetValue(name, value, c.State.Options["mac_prefix"])
	}
	return value, nil
}

// NetValue fills in a MAC address and the type of a network card.
func NetValue(name, value, prefix string) (string, error) {
	format := schema.Format("lxc-net")
	card, err := format.ParseProperties(name, value)
	if err != nil {
		return "", err
	}
	if _, ok := card.Get("hwaddr"); !ok {
		card.Set("hwaddr", core.NewMAC(prefix))
	}
	card.Set("hwaddr", strings.ToUpper(card.Values["hwaddr"]))
	card.Set("type", "veth")
	return format.Print(card), nil
}

// makeMount allocates the volume of a mount point, or finds the one that is there.
func makeMount(s *core.State, node string, vmid int, name, value string) (string, *core.Volume, error) {
	format := schema.Format(mountFormat(name))
	pairs, err := format.ParseProperties(name, value)
	if err != nil {
		return "", nil, err
	}
	m := guest.NewDisk.FindStringSubmatch(pairs.Values["volume"])
	if m == nil {
		v := s.Volume(node, pairs.Values["volume"])
		if v == nil {
			return "", nil, core.Fail("volume '%s' does not exist", pairs.Values["volume"])
		}
		pairs.Set("size", schema.FormatSize(v.Size))
		return format.Print(pairs), nil, nil
	}
	st, err := s.StorageOn(node, m[1])
	if err != nil {
		return "", nil, err
	}
	size, ok := schema.ParseSize(m[2] + "G")
	if !ok || !s.Fits(st, node, size) {
		return "", nil, core.Fail("unable to create image: No space left on device")
	}
	v := allocateCT(s, st, node, vmid, size)
	pairs.Set("volume", v.ID)
	pairs.Set("size", schema.FormatSize(size))
	return format.Print(pairs), v, nil
}
