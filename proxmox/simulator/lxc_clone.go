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
