package lxc

import (
	"path"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ctCloneEndpoints copy containers, make templates of them and move their volumes. Source: pve-container src/PVE/API2/LXC.pm.
func ctCloneEndpoints() []*core.Endpoint {
	const at = "/nodes/{node}/lxc/{vmid}"
	names := volumeNames()
	return []*core.Endpoint{
		core.On("POST "+at+"/clone",
			core.All(core.Need("/vms/{vmid}", "VM.Clone"), core.Either(core.Need("/vms/{newid}", "VM.Allocate"), core.Given("pool", core.Need("/pool/{pool}", "VM.Allocate")))),
			"newid* vmid; hostname dns-name; description string; pool poolid; snapname configid(..40); storage storage-id; full bool; target node; bwlimit num(0..)", cloneCT),
		core.On("POST "+at+"/template", core.Need("/vms/{vmid}", "VM.Allocate"), "", templateCT),
		core.On("POST "+at+"/move_volume", core.Need("/vms/{vmid}", "VM.Config.Disk"), "volume* enum("+names+"); storage storage-id; target-vmid vmid; target-volume enum("+names+"); delete bool; "+
			"digest string(..40); target-digest string(..40); bwlimit num(0..)", moveVolume),
		core.On("GET "+at+"/feature", core.Need("/vms/{vmid}", "VM.Audit"), "feature* enum(snapshot clone copy); snapname configid(..40)", featureCT),
	}
}

// volumeNames are the options of a container that name volumes, in the order of the API's own lists.
func volumeNames() string {
	names := []string{"rootfs"}
	for _, kind := range []string{"mp", "unused"} {
		for i := range 256 {
			names = append(names, kind+core.Itoa(i))
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

func cloneCT(c *core.Call) (any, error) {
	if err := c.PoolExists(c.Text("pool")); err != nil {
		return nil, err
	}
	o := &guest.Copy{VMID: c.Number("newid", 0), Target: c.Text("target")}
	for _, step := range []func(*core.Call, *guest.Copy) error{guest.CloneTarget, cloneCTSource, cloneCTVolumes, cloneCTCards} {
		if err := step(c, o); err != nil {
			return nil, err
		}
	}
	g := &core.Guest{VMID: o.VMID, Kind: "lxc", Node: c.Node(), Conf: copyCTConfig(c, o), State: core.Stopped}
	c.State.Guests[g.VMID], o.Source.Conf["lock"] = g, "disk"
	c.GiveUp = func() {
		delete(o.Source.Conf, "lock")
		delete(c.State.Guests, g.VMID)
	}
	return c.Fork(c.Node(), "vzclone", core.Itoa(o.Source.VMID), func(t *core.Task) error { return fillCT(c, t, g, o) }), nil
}

func cloneCTSource(c *core.Call, o *guest.Copy) error {
	g, err := c.Guest()
	if err != nil {
		return err
	}
	if err := c.Unlocked(g); err != nil {
		return err
	}
	if c.State.Guests[o.VMID] != nil {
		return core.Fail("unable to create CT %d: config file already exists", o.VMID)
	}
	o.Source, o.Conf, o.Full = g, g.Conf, c.Flag("full", !g.Template())
	if c.Has("storage") && !o.Full {
		return core.Fail("parameter 'storage' not allowed for linked clones")
	}
	if name := c.Text("snapname"); name != "" {
		if o.Conf = g.Snaps[name]; o.Conf == nil {
			return core.Fail("snapshot '%s' does not exist", name)
		}
	}
	return nil
}

func cloneCTVolumes(c *core.Call, o *guest.Copy) error {
	local := false
	volumes := mounts(o.Conf)
	for _, option := range core.SortedKeys(volumes) {
		id := volumes[option]
		name, rest := core.SplitVolume(id)
		st := c.State.Storages[name]
		if strings.HasPrefix(id, "/") {
			return core.Fail("unable to clone mountpoint '%s' (type bind)", option)
		}
		if o.Storage != nil {
			name = o.Storage.Name
		}
		if st == nil || c.State.Storages[name] == nil {
			return core.Fail("storage '%s' does not exist", name)
		}
		local = local || !c.State.Storages[name].Shared
		if err := c.Check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
			return err
		}
		if o.Full {
			if o.Source.State != core.Stopped && !c.Has("snapname") {
				return core.Fail("Full clone of a running container is only possible from a snapshot")
			}
			continue
		}
		if p, err := st.ParseVolume(rest); err != nil || !p.IsBase || st.Kind == "lvm" || st.Files() && st.Kind != "btrfs" {
			return core.Fail("Linked clone feature for '%s' is not available", id)
		}
	}
	if local && o.Target != c.Node() {
		return core.Fail("can't clone CT to node '%s' (CT uses local storage)", o.Target)
	}
	return nil
}

func cloneCTCards(c *core.Call, o *guest.Copy) error {
	for _, name := range core.SortedKeys(o.Conf) {
		if guestconf.NetName.MatchString(name) {
			if err := guest.CheckBridgeOf(c, schema.Format("lxc-net"), o.Conf[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyCTConfig is the configuration of the copy, without its volumes: these come one by one.
func copyCTConfig(c *core.Call, o *guest.Copy) map[string]string {
	conf := map[string]string{}
	for name, value := range o.Conf {
		switch {
		case guestconf.UnusedName.MatchString(name), guestconf.MountName.MatchString(name), slices.Contains(guest.NotCopied, name):
		case guestconf.NetName.MatchString(name):
			format := schema.Format("lxc-net")
			if card, err := format.ParseProperties(name, value); err == nil {
				card.Set("hwaddr", core.NewMAC(c.State.Options["mac_prefix"]))
				conf[name] = format.Print(card)
			}
		default:
			conf[name] = value
		}
	}
	for _, name := range []string{"hostname", "description"} {
		if v := c.Text(name); v != "" {
			conf[name] = v
		}
	}
	conf["lock"] = "create"
	return conf
}

// fillCT is the task: it copies the volumes and puts the container into its pool and onto its node.
func fillCT(c *core.Call, t *core.Task, g *core.Guest, o *guest.Copy) error {
	t.Say("creating a clone of container %d with ID %d", o.Source.VMID, g.VMID)
	var made []*core.Volume
	volumes := mounts(o.Conf)
	err := error(nil)
	for _, option := range core.SortedKeys(volumes) {
		v, copyErr := copyMount(c, g, o, volumes[option])
		if err = copyErr; err != nil {
			break
		}
		made = append(made, v)
		format := schema.Format(mountFormat(option))
		pairs, parseErr := format.ParseProperties(option, o.Conf[option])
		if err = parseErr; err != nil {
			break
		}
		pairs.Set("volume", v.ID)
		pairs.Set("size", schema.FormatSize(v.Size))
		g.Conf[option] = format.Print(pairs)
	}
	if err == nil {
		err = t.Busy()
	}
	delete(o.Source.Conf, "lock")
	if err != nil {
		for _, v := range made {
			c.State.DropVolume(v)
		}
		delete(c.State.Guests, g.VMID)
		return core.Fail("clone failed: %s", core.Flat(err))
	}
	delete(g.Conf, "lock")
	g.Node = o.Target
	if pool := c.State.ACL.Pools[c.Text("pool")]; pool != nil {
		pool.VMs[g.VMID] = true
		c.State.ACL.Changed()
	}
	return nil
}

func mountFormat(option string) string {
	if option == "rootfs" {
		return "lxc-rootfs"
	}
	return "lxc-mp"
}

func copyMount(c *core.Call, g *core.Guest, o *guest.Copy, id string) (*core.Volume, error) {
	src := c.State.Volume(o.Source.Node, id)
	if src == nil {
		return nil, core.Fail("volume '%s' does not exist", id)
	}
	st := c.State.Storages[src.Storage]
	if o.Storage != nil {
		st = o.Storage
	}
	if !o.Full {
		_, base := core.SplitVolume(src.ID)
		v := &core.Volume{Storage: st.Name, Node: o.Target, Content: "rootdir", Format: src.Format, Size: src.Size, VMID: g.VMID, Parent: src.ID}
		v.ID = st.Name + ":" + path.Base(base) + "/" + ctVolumeName(st, c.State.FreeName(st, o.Target, g.VMID))
		c.State.PutVolume(v)
		return v, nil
	}
	if !c.State.Fits(st, o.Target, src.Size) {
		return nil, core.Fail("unable to create image: No space left on device")
	}
	return allocateCT(c.State, st, o.Target, g.VMID, src.Size), nil
}

// ctVolumeName is the name of a container's volume: ZFS and Btrfs have subvolumes.
func ctVolumeName(st *core.Storage, name string) string {
	if st.Kind == "zfspool" || st.Kind == "btrfs" {
		return strings.Replace(name, "vm-", "subvol-", 1)
	}
	return name
}

// allocateCT makes a new volume for a container.
func allocateCT(s *core.State, st *core.Storage, node string, vmid int, size int64) *core.Volume {
	format := "raw"
	if st.Kind == "zfspool" || st.Kind == "btrfs" {
		format = "subvol"
	}
	v := s.Allocate(st, node, vmid, ctVolumeName(st, s.FreeName(st, node, vmid)), format, size)
	v.Content = "rootdir"
	return v
}
