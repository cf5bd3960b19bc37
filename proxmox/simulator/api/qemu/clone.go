package qemu

import (
	"path"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// cloneEndpoints copy, convert and delete virtual machines. Source: qemu-server src/PVE/API2/Qemu.pm.
func cloneEndpoints() []*core.Endpoint {
	return []*core.Endpoint{
		core.On("POST /nodes/{node}/qemu/{vmid}/clone",
			core.All(core.Need("/vms/{vmid}", "VM.Clone"), core.Either(core.Need("/vms/{newid}", "VM.Allocate"), core.Given("pool", core.Need("/pool/{pool}", "VM.Allocate")))),
			`newid* vmid; name dns-name; description string; pool poolid; snapname configid(..40); storage storage-id; format enum(raw qcow2 vmdk);
			full bool; target node; bwlimit int(0..)`, cloneVM),
		core.On("POST /nodes/{node}/qemu/{vmid}/template", core.Need("/vms/{vmid}", "VM.Allocate"), "disk enum("+strings.Join(guestconf.DriveNames(), " ")+")", makeTemplate),
		core.On("DELETE /nodes/{node}/qemu/{vmid}", core.Need("/vms/{vmid}", "VM.Allocate"), "purge bool; destroy-unreferenced-disks bool; skiplock bool", destroyVM),
	}
}

func cloneVM(c *core.Call) (any, error) {
	if err := c.PoolExists(c.Text("pool")); err != nil {
		return nil, err
	}
	o := &guest.Copy{VMID: c.Number("newid", 0), Target: c.Text("target")}
	for _, step := range []func(*core.Call, *guest.Copy) error{guest.CloneTarget, cloneSource, cloneOptions, cloneDisks, cloneCards, cloneFree} {
		if err := step(c, o); err != nil {
			return nil, err
		}
	}
	return c.Fork(c.Node(), "qmclone", core.Itoa(c.VMID()), func(t *core.Task) error { return clone(c, t, o) }), nil
}

func cloneSource(c *core.Call, o *guest.Copy) error {
	g, err := c.State.FoundOn(c.Node(), c.VMID())
	if err != nil {
		return err
	}
	if err := c.Unlocked(g); err != nil {
		return err
	}
	o.Source, o.Conf = g, g.Conf
	if name := c.Text("snapname"); name != "" {
		snap, ok := g.Snaps[name]
		if !ok {
			return core.Fail("snapshot '%s' does not exist", name)
		}
		o.Conf = snap
	}
	o.Full = c.Flag("full", !g.Template())
	return nil
}

func cloneOptions(c *core.Call, o *guest.Copy) error {
	for _, name := range []string{"storage", "format"} {
		if !o.Full && c.Has(name) {
			return core.Fail("parameter '%s' not allowed for linked clones", name)
		}
	}
	return nil
}

// cloneDisks asks for the space, and whether every disk can be copied in the way that was asked for.
func cloneDisks(c *core.Call, o *guest.Copy) error {
	for _, d := range guestconf.Drives(o.Conf) {
		if !d.Volume() {
			continue
		}
		name, rest := core.SplitVolume(d.File())
		st := c.State.Storages[name]
		if st == nil {
			return core.Fail("storage '%s' does not exist", name)
		}
		if o.Target != c.Node() && !st.Shared {
			return core.Fail("can't clone VM to node '%s' (VM uses local storage)", o.Target)
		}
		if d.CDROM() && !d.CloudInit() {
			continue
		}
		if !o.Full && !d.CloudInit() && d.Option != "tpmstate0" {
			if p, err := st.ParseVolume(rest); err != nil || !p.IsBase || st.Kind == "lvm" {
				return core.Fail("Linked clone feature is not supported for '%s' (%s)", d.File(), d.Option)
			}
		}
		if o.Storage != nil {
			name = o.Storage.Name
		}
		if err := c.Check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	return nil
}

// cloneCards asks for the use of the source's bridges, even if the copy will be attached to others.
func cloneCards(c *core.Call, o *guest.Copy) error {
	for _, name := range core.SortedKeys(o.Conf) {
		if guestconf.NetName.MatchString(name) {
			if err := guest.CheckBridge(c, o.Conf[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func cloneFree(c *core.Call, o *guest.Copy) error {
	if g := c.State.Guests[o.VMID]; g != nil && g.Node == c.Node() {
		return core.Fail("unable to create VM %d: config file already exists", o.VMID)
	}
	return nil
}

// clone is the task: a locked configuration comes first, the disks, and last the pool.
func clone(c *core.Call, t *core.Task, o *guest.Copy) error {
	s := c.State
	if s.Guests[o.VMID] != nil {
		return core.Fail("close (rename) atomic file '/etc/pve/nodes/%s/qemu-server/%d.conf' failed: File exists", t.Node, o.VMID)
	}
	g := &core.Guest{VMID: o.VMID, Kind: "qemu", Node: t.Node, Conf: map[string]string{"lock": "clone"}, State: core.Stopped}
	s.Guests[o.VMID] = g
	conf, made, err := copyConfig(c, o)
	if err == nil {
		err = t.Busy()
	}
	if err == nil && s.Guests[o.Source.VMID] != o.Source {
		err = core.Fail("unable to find configuration file for VM %d on node '%s'", o.Source.VMID, t.Node)
	}
	if err != nil {
		for _, v := range made {
			s.DropVolume(v)
		}
		delete(s.Guests, o.VMID)
		return core.Fail("clone failed: %s", core.Flat(err))
	}
	g.Conf, g.Node = conf, o.Target
	if pool := s.ACL.Pools[c.Text("pool")]; pool != nil {
		pool.VMs[o.VMID] = true
		s.ACL.Changed()
	}
	return nil
}

func copyConfig(c *core.Call, o *guest.Copy) (conf map[string]string, made []*core.Volume, err error) {
	conf = map[string]string{}
	for name, value := range o.Conf {
		switch {
		case guestconf.UnusedName.MatchString(name), slices.Contains(guest.NotCopied, name):
		case guestconf.NetName.MatchString(name):
			card, err := guestconf.FormatOf(name).ParseProperties(name, value)
			if err != nil {
				return nil, made, err
			}
			card.Delete("macaddr")
			if conf[name], err = NetValue(name, guestconf.FormatOf(name).Print(card), c.State.Options["mac_prefix"]); err != nil {
				return nil, made, err
			}
		case guestconf.DriveName.MatchString(name):
			stored, v, err := copyDrive(c, o, name, value)
			if err != nil {
				return nil, made, err
			}
			if v != nil {
				made = append(made, v)
			}
			conf[name] = stored
		default:
			conf[name] = value
		}
	}
	conf["smbios1"] = guest.WithUUID(conf["smbios1"])
	if conf["vmgenid"] != "" {
		conf["vmgenid"] = core.NewUUID()
	}
	conf["name"] = c.Text("name")
	if conf["name"] == "" {
		conf["name"] = "Copy-of-VM-" + o.Conf["name"]
		if o.Conf["name"] == "" {
			conf["name"] = "Copy-of-VM-" + core.Itoa(o.Source.VMID)
		}
	}
	if c.Has("description") {
		conf["description"] = c.Text("description")
	}
	return conf, made, nil
}

func copyDrive(c *core.Call, o *guest.Copy, option, value string) (string, *core.Volume, error) {
	d, err := guestconf.ParseDrive(option, value)
	if err != nil || !d.Volume() || d.CDROM() && !d.CloudInit() {
		return value, nil, err
	}
	name, _ := core.SplitVolume(d.File())
	st := c.State.Storages[name]
	if o.Storage != nil {
		st = o.Storage
	}
	src := c.State.Volume(o.Source.Node, d.File())
	if src == nil {
		return "", nil, core.Fail("volume '%s' does not exist", d.File())
	}
	v := copyVolume(c, o, d, st, src)
	d.Set("file", v.ID)
	d.Set("size", schema.FormatSize(v.Size))
	return d.String(), v, nil
}

// copyVolume makes the copy of a disk: of the whole, or one that refers to its base.
func copyVolume(c *core.Call, o *guest.Copy, d *guestconf.Drive, st *core.Storage, src *core.Volume) *core.Volume {
	switch {
	case d.CloudInit():
		return c.State.Allocate(st, o.Target, o.VMID, "vm-"+core.Itoa(o.VMID)+"-cloudinit", "qcow2", src.Size)
	case o.Full || d.Option == "tpmstate0":
		format := src.Format
		if f := c.Text("format"); f != "" {
			format = f
		}
		return c.State.Allocate(st, o.Target, o.VMID, c.State.FreeName(st, o.Target, o.VMID), format, src.Size)
	}
	name := c.State.FreeName(st, o.Target, o.VMID)
	_, base := core.SplitVolume(src.ID)
	v := &core.Volume{Storage: st.Name, Node: o.Target, Content: "images", Format: "qcow2", Size: src.Size, VMID: o.VMID, Parent: src.ID}
	switch {
	case st.Files():
		v.ID = st.Name + ":" + base + "/" + core.Itoa(o.VMID) + "/" + name + ".qcow2"
	case st.Kind == "lvmthin":
		v.ID, v.Format = st.Name+":"+name, "raw"
	default:
		v.ID, v.Format = st.Name+":"+path.Base(base)+"/"+name, "raw"
	}
	c.State.PutVolume(v)
	return v
}
