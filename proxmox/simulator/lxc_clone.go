package simulator

import (
	"path"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ctCloneEndpoints copy containers, make templates of them and move their volumes. Source: pve-container src/PVE/API2/LXC.pm.
func ctCloneEndpoints() []*endpoint {
	const at = "/nodes/{node}/lxc/{vmid}"
	names := volumeNames()
	return []*endpoint{
		on("POST "+at+"/clone",
			all(need("/vms/{vmid}", "VM.Clone"), either(need("/vms/{newid}", "VM.Allocate"), given("pool", need("/pool/{pool}", "VM.Allocate")))),
			"newid* vmid; hostname dns-name; description string; pool poolid; snapname configid(..40); storage storage-id; full bool; target node; bwlimit num(0..)", (*call).cloneCT),
		on("POST "+at+"/template", need("/vms/{vmid}", "VM.Allocate"), "", (*call).templateCT),
		on("POST "+at+"/move_volume", need("/vms/{vmid}", "VM.Config.Disk"), "volume* enum("+names+"); storage storage-id; target-vmid vmid; target-volume enum("+names+"); delete bool; "+
			"digest string(..40); target-digest string(..40); bwlimit num(0..)", (*call).moveVolume),
		on("GET "+at+"/feature", need("/vms/{vmid}", "VM.Audit"), "feature* enum(snapshot clone copy); snapname configid(..40)", (*call).featureCT),
	}
}

// volumeNames are the options of a container that name volumes, in the order of the API's own lists.
func volumeNames() string {
	names := []string{"rootfs"}
	for _, kind := range []string{"mp", "unused"} {
		for i := range 256 {
			names = append(names, kind+itoa(i))
		}
	}
	return strings.Join(names, " ")
}

// mountNames are the options of a container that name volumes in use.
func mountNames() string {
	names, _, _ := strings.Cut(volumeNames(), " unused0")
	return names
}

// mounts are the volumes of a container by their options.
func mounts(conf map[string]string) map[string]string {
	m := map[string]string{}
	for option, value := range conf {
		if guestconf.MountName.MatchString(option) {
			m[option] = guestconf.MountVolume(value)
		}
	}
	return m
}

func (c *call) cloneCT() (any, error) {
	if err := c.poolExists(c.text("pool")); err != nil {
		return nil, err
	}
	o := &copyOf{newid: c.number("newid", 0), target: c.text("target")}
	for _, step := range []func(*call, *copyOf) error{(*call).cloneTarget, (*call).cloneCTSource, (*call).cloneCTVolumes, (*call).cloneCTCards} {
		if err := step(c, o); err != nil {
			return nil, err
		}
	}
	g := &guest{vmid: o.newid, kind: "lxc", node: c.node(), conf: c.copyCTConfig(o), state: stopped}
	c.s.guests[g.vmid], o.source.conf["lock"] = g, "disk"
	c.giveUp = func() {
		delete(o.source.conf, "lock")
		delete(c.s.guests, g.vmid)
	}
	return c.fork(c.node(), "vzclone", itoa(o.source.vmid), func(t *task) error { return c.fillCT(t, g, o) }), nil
}

func (c *call) cloneCTSource(o *copyOf) error {
	g, err := c.guest()
	if err != nil {
		return err
	}
	if err := c.unlocked(g); err != nil {
		return err
	}
	if c.s.guests[o.newid] != nil {
		return fail("unable to create CT %d: config file already exists", o.newid)
	}
	o.source, o.conf, o.full = g, g.conf, c.flag("full", !g.template())
	if c.has("storage") && !o.full {
		return fail("parameter 'storage' not allowed for linked clones")
	}
	if name := c.text("snapname"); name != "" {
		if o.conf = g.snaps[name]; o.conf == nil {
			return fail("snapshot '%s' does not exist", name)
		}
	}
	return nil
}

func (c *call) cloneCTVolumes(o *copyOf) error {
	local := false
	volumes := mounts(o.conf)
	for _, option := range sortedKeys(volumes) {
		id := volumes[option]
		name, rest := splitVolume(id)
		st := c.s.storages[name]
		if strings.HasPrefix(id, "/") {
			return fail("unable to clone mountpoint '%s' (type bind)", option)
		}
		if o.storage != nil {
			name = o.storage.name
		}
		if st == nil || c.s.storages[name] == nil {
			return fail("storage '%s' does not exist", name)
		}
		local = local || !c.s.storages[name].shared
		if err := c.check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
			return err
		}
		if o.full {
			if o.source.state != stopped && !c.has("snapname") {
				return fail("Full clone of a running container is only possible from a snapshot")
			}
			continue
		}
		if p, err := st.parseVolume(rest); err != nil || !p.isBase || st.kind == "lvm" || st.files() && st.kind != "btrfs" {
			return fail("Linked clone feature for '%s' is not available", id)
		}
	}
	if local && o.target != c.node() {
		return fail("can't clone CT to node '%s' (CT uses local storage)", o.target)
	}
	return nil
}

func (c *call) cloneCTCards(o *copyOf) error {
	for _, name := range sortedKeys(o.conf) {
		if guestconf.NetName.MatchString(name) {
			if err := c.checkBridgeOf(schema.Format("lxc-net"), o.conf[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyCTConfig is the configuration of the copy, without its volumes: these come one by one.
func (c *call) copyCTConfig(o *copyOf) map[string]string {
	conf := map[string]string{}
	for name, value := range o.conf {
		switch {
		case guestconf.UnusedName.MatchString(name), guestconf.MountName.MatchString(name), slices.Contains(notCopied, name):
		case guestconf.NetName.MatchString(name):
			format := schema.Format("lxc-net")
			if card, err := format.ParseProperties(name, value); err == nil {
				card.Set("hwaddr", newMAC(c.s.options["mac_prefix"]))
				conf[name] = format.Print(card)
			}
		default:
			conf[name] = value
		}
	}
	for _, name := range []string{"hostname", "description"} {
		if v := c.text(name); v != "" {
			conf[name] = v
		}
	}
	conf["lock"] = "create"
	return conf
}

// fillCT is the task: it copies the volumes and puts the container into its pool and onto its node.
func (c *call) fillCT(t *task, g *guest, o *copyOf) error {
	t.say("creating a clone of container %d with ID %d", o.source.vmid, g.vmid)
	var made []*volume
	volumes := mounts(o.conf)
	err := error(nil)
	for _, option := range sortedKeys(volumes) {
		v, copyErr := c.copyMount(g, o, volumes[option])
		if err = copyErr; err != nil {
			break
		}
		made = append(made, v)
		format := schema.Format(mountFormat(option))
		pairs, parseErr := format.ParseProperties(option, o.conf[option])
		if err = parseErr; err != nil {
			break
		}
		pairs.Set("volume", v.id)
		pairs.Set("size", schema.FormatSize(v.size))
		g.conf[option] = format.Print(pairs)
	}
	if err == nil {
		err = t.busy()
	}
	delete(o.source.conf, "lock")
	if err != nil {
		for _, v := range made {
			c.s.dropVolume(v)
		}
		delete(c.s.guests, g.vmid)
		return fail("clone failed: %s", flat(err))
	}
	delete(g.conf, "lock")
	g.node = o.target
	if pool := c.s.acl.Pools[c.text("pool")]; pool != nil {
		pool.VMs[g.vmid] = true
		c.s.acl.Changed()
	}
	return nil
}

func mountFormat(option string) string {
	if option == "rootfs" {
		return "lxc-rootfs"
	}
	return "lxc-mp"
}

func (c *call) copyMount(g *guest, o *copyOf, id string) (*volume, error) {
	src := c.s.volume(o.source.node, id)
	if src == nil {
		return nil, fail("volume '%s' does not exist", id)
	}
	st := c.s.storages[src.storage]
	if o.storage != nil {
		st = o.storage
	}
	if !o.full {
		_, base := splitVolume(src.id)
		v := &volume{storage: st.name, node: o.target, content: "rootdir", format: src.format, size: src.size, vmid: g.vmid, parent: src.id}
		v.id = st.name + ":" + path.Base(base) + "/" + ctVolumeName(st, c.s.freeName(st, o.target, g.vmid))
		c.s.putVolume(v)
		return v, nil
	}
	if !c.s.fits(st, o.target, src.size) {
		return nil, fail("unable to create image: No space left on device")
	}
	return c.s.allocateCT(st, o.target, g.vmid, src.size), nil
}

// ctVolumeName is the name of a container's volume: ZFS and Btrfs have subvolumes.
func ctVolumeName(st *storage, name string) string {
	if st.kind == "zfspool" || st.kind == "btrfs" {
		return strings.Replace(name, "vm-", "subvol-", 1)
	}
	return name
}

// allocateCT makes a new volume for a container.
func (s *state) allocateCT(st *storage, node string, vmid int, size int64) *volume {
	format := "raw"
	if st.kind == "zfspool" || st.kind == "btrfs" {
		format = "subvol"
	}
	v := s.allocate(st, node, vmid, ctVolumeName(st, s.freeName(st, node, vmid)), format, size)
	v.content = "rootdir"
	return v
}

// templateCT makes a template; unlike that of a machine, its task is not told of.
func (c *call) templateCT() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	switch {
	case len(g.snaps) > 0:
		return nil, fail("unable to create template, because CT contains snapshots")
	case g.template():
		return nil, fail("you can't convert a template to a template")
	case g.state != stopped:
		return nil, fail("you can't convert a CT to template if the CT is running")
	}
	c.fork(c.node(), "vztemplate", itoa(g.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		return c.s.baseMounts(g)
	})
	return nil, nil
}

// baseMounts renames the volumes of a container to base volumes.
func (s *state) baseMounts(g *guest) error {
	conf := copyMap(g.conf)
	volumes := mounts(conf)
	for _, option := range sortedKeys(volumes) {
		v := s.volume(g.node, volumes[option])
		if v == nil {
			return fail("volume '%s' does not exist", volumes[option])
		}
		old := v.id
		_, name := splitVolume(old)
		based := strings.NewReplacer("vm-", "base-", "subvol-", "basevol-").Replace(path.Base(name))
		s.dropVolume(v)
		v.id = strings.TrimSuffix(old, path.Base(name)) + based
		s.putVolume(v)
		conf[option] = strings.Replace(conf[option], old, v.id, 1)
	}
	conf["template"] = "1"
	g.conf = conf
	return nil
}

func (c *call) featureCT() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	has := true
	for _, id := range mounts(g.conf) {
		if c.text("feature") == "snapshot" && !c.s.snapshots(g.node, id) || c.text("feature") == "clone" && !strings.Contains(id, "base") {
			has = false
		}
	}
	return row{"hasFeature": bit(has)}, nil
}

func (c *call) moveVolume() (any, error) {
	if c.has("storage") == c.has("target-vmid") {
		if c.has("storage") {
			return nil, fail("either set storage or target-vmid, but not both")
		}
		return nil, fail("Provide either a 'storage' to move the mount point to a different storage or 'target-vmid' and 'target-mp' to move the mount point to another container")
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	if c.has("target-vmid") {
		return c.giveVolume(g)
	}
	return c.moveVolumeTo(g)
}

func (c *call) moveVolumeTo(g *guest) (any, error) {
	if err := c.check("/storage/"+c.text("storage"), "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	option := c.text("volume")
	switch {
	case g.state != stopped:
		return nil, fail("cannot move volumes of a running container")
	case guestconf.UnusedName.MatchString(option):
		return nil, fail("cannot move volume '%s', only configured volumes can be moved to another storage", option)
	}
	st, err := c.s.storageOn(g.node, c.text("storage"))
	if err != nil {
		return nil, err
	}
	if err := unmodified(g.digest(), c.text("digest")); err != nil {
		return nil, err
	}
	old := c.s.volume(g.node, guestconf.MountVolume(g.conf[option]))
	if old == nil {
		return nil, fail("no '%s' configured", option)
	}
	g.conf["lock"] = "disk"
	c.giveUp = func() { delete(g.conf, "lock") }
	return c.fork(g.node, "move_volume", itoa(g.vmid), func(t *task) error {
		err := t.busy()
		delete(g.conf, "lock")
		if err != nil {
			return err
		}
		v := c.s.allocateCT(st, g.node, g.vmid, old.size)
		conf := copyMap(g.conf)
		conf[option] = strings.Replace(conf[option], old.id, v.id, 1)
		if c.flag("delete", false) {
			c.s.dropVolume(old)
		} else {
			conf[freeUnused(conf)] = old.id
		}
		g.conf = conf
		return nil
	}), nil
}

// giveVolume renames a volume so that it belongs to another container of the node.
func (c *call) giveVolume(g *guest) (any, error) {
	option := c.text("volume")
	at := or(c.text("target-volume"), option)
	to := c.s.guests[c.number("target-vmid", 0)]
	if err := c.check("/vms/"+c.text("target-vmid"), "VM.Config.Disk"); err != nil {
		return nil, err
	}
	switch {
	case option == "rootfs" || at == "rootfs":
		return nil, fail("Cannot move to/from 'rootfs'")
	case guestconf.UnusedName.MatchString(option) && !guestconf.UnusedName.MatchString(at):
		return nil, fail("Moving an unused volume to a used one is not possible")
	case to == nil || to.kind != "lxc":
		return nil, fail("could not find CT %s", c.text("target-vmid"))
	case to.node != g.node:
		return nil, fail("Both containers need to be on the same node (%s != %s)", g.node, to.node)
	case g.template() || to.template():
		return nil, fail("Can't move volumes from or to template CT")
	case g.conf[option] == "":
		return nil, fail("volume '%s' for container '%d' does not exist", option, g.vmid)
	case to.conf[at] != "":
		return nil, fail("Target volume key '%s' is already in use for container '%d'", at, to.vmid)
	case g.state != stopped && !guestconf.UnusedName.MatchString(option):
		return nil, fail("Cannot move in-use volume while the source CT is running - detach or shutdown first")
	}
	return c.fork(g.node, "move_volume", itoa(g.vmid)+"-"+itoa(to.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		v := c.s.volume(g.node, guestconf.MountVolume(g.conf[option]))
		if v == nil {
			return fail("Volume '%s' has no associated image", option)
		}
		old, st := v.id, c.s.storages[v.storage]
		c.s.dropVolume(v)
		v.id, v.vmid = st.imageID(to.vmid, ctVolumeName(st, c.s.freeName(st, g.node, to.vmid)), v.format), to.vmid
		c.s.putVolume(v)
		value := g.conf[option]
		delete(g.conf, option)
		to.conf[at] = strings.Replace(value, old, v.id, 1)
		return nil
	}), nil
}
