package simulator

import (
	"path"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// cloneEndpoints copy, convert and delete virtual machines. Source: qemu-server src/PVE/API2/Qemu.pm.
func cloneEndpoints() []*Endpoint {
	return []*Endpoint{
		On("POST /nodes/{node}/qemu/{vmid}/clone",
			All(Need("/vms/{vmid}", "VM.Clone"), Either(Need("/vms/{newid}", "VM.Allocate"), Given("pool", Need("/pool/{pool}", "VM.Allocate")))),
			`newid* vmid; name dns-name; description string; pool poolid; snapname configid(..40); storage storage-id; format enum(raw qcow2 vmdk);
			full bool; target node; bwlimit int(0..)`, cloneVM),
		On("POST /nodes/{node}/qemu/{vmid}/template", Need("/vms/{vmid}", "VM.Allocate"), "disk enum("+strings.Join(guestconf.DriveNames(), " ")+")", makeTemplate),
		On("DELETE /nodes/{node}/qemu/{vmid}", Need("/vms/{vmid}", "VM.Allocate"), "purge bool; destroy-unreferenced-disks bool; skiplock bool", destroyVM),
	}
}

func cloneVM(c *call) (any, error) {
	if err := c.PoolExists(c.Text("pool")); err != nil {
		return nil, err
	}
	o := &Copy{VMID: c.Number("newid", 0), Target: c.Text("target")}
	for _, step := range []func(*call, *Copy) error{CloneTarget, cloneSource, cloneOptions, cloneDisks, cloneCards, cloneFree} {
		if err := step(c, o); err != nil {
			return nil, err
		}
	}
	return c.Fork(c.Node(), "qmclone", Itoa(c.VMID()), func(t *task) error { return clone(c, t, o) }), nil
}

func cloneSource(c *call, o *Copy) error {
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
			return Fail("snapshot '%s' does not exist", name)
		}
		o.Conf = snap
	}
	o.Full = c.Flag("full", !g.Template())
	return nil
}

func cloneOptions(c *call, o *Copy) error {
	for _, name := range []string{"storage", "format"} {
		if !o.Full && c.Has(name) {
			return Fail("parameter '%s' not allowed for linked clones", name)
		}
	}
	return nil
}

// cloneDisks asks for the space, and whether every disk can be copied in the way that was asked for.
func cloneDisks(c *call, o *Copy) error {
	for _, d := range guestconf.Drives(o.Conf) {
		if !d.Volume() {
			continue
		}
		name, rest := SplitVolume(d.File())
		st := c.State.Storages[name]
		if st == nil {
			return Fail("storage '%s' does not exist", name)
		}
		if o.Target != c.Node() && !st.Shared {
			return Fail("can't clone VM to node '%s' (VM uses local storage)", o.Target)
		}
		if d.CDROM() && !d.CloudInit() {
			continue
		}
		if !o.Full && !d.CloudInit() && d.Option != "tpmstate0" {
			if p, err := st.ParseVolume(rest); err != nil || !p.IsBase || st.Kind == "lvm" {
				return Fail("Linked clone feature is not supported for '%s' (%s)", d.File(), d.Option)
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
func cloneCards(c *call, o *Copy) error {
	for _, name := range SortedKeys(o.Conf) {
		if guestconf.NetName.MatchString(name) {
			if err := CheckBridge(c, o.Conf[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func cloneFree(c *call, o *Copy) error {
	if g := c.State.Guests[o.VMID]; g != nil && g.Node == c.Node() {
		return Fail("unable to create VM %d: config file already exists", o.VMID)
	}
	return nil
}

// clone is the task: a locked configuration comes first, the disks, and last the pool.
func clone(c *call, t *task, o *Copy) error {
	s := c.State
	if s.Guests[o.VMID] != nil {
		return Fail("close (rename) atomic file '/etc/pve/nodes/%s/qemu-server/%d.conf' failed: File exists", t.Node, o.VMID)
	}
	g := &guest{VMID: o.VMID, Kind: "qemu", Node: t.Node, Conf: map[string]string{"lock": "clone"}, State: Stopped}
	s.Guests[o.VMID] = g
	conf, made, err := copyConfig(c, o)
	if err == nil {
		err = t.Busy()
	}
	if err == nil && s.Guests[o.Source.VMID] != o.Source {
		err = Fail("unable to find configuration file for VM %d on node '%s'", o.Source.VMID, t.Node)
	}
	if err != nil {
		for _, v := range made {
			s.DropVolume(v)
		}
		delete(s.Guests, o.VMID)
		return Fail("clone failed: %s", Flat(err))
	}
	g.Conf, g.Node = conf, o.Target
	if pool := s.ACL.Pools[c.Text("pool")]; pool != nil {
		pool.VMs[o.VMID] = true
		s.ACL.Changed()
	}
	return nil
}

func copyConfig(c *call, o *Copy) (conf map[string]string, made []*volume, err error) {
	conf = map[string]string{}
	for name, value := range o.Conf {
		switch {
		case guestconf.UnusedName.MatchString(name), slices.Contains(NotCopied, name):
		case guestconf.NetName.MatchString(name):
			card, err := guestconf.FormatOf(name).ParseProperties(name, value)
			if err != nil {
				return nil, made, err
			}
			card.Delete("macaddr")
			if conf[name], err = netValue(name, guestconf.FormatOf(name).Print(card), c.State.Options["mac_prefix"]); err != nil {
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
	conf["smbios1"] = WithUUID(conf["smbios1"])
	if conf["vmgenid"] != "" {
		conf["vmgenid"] = NewUUID()
	}
	conf["name"] = c.Text("name")
	if conf["name"] == "" {
		conf["name"] = "Copy-of-VM-" + o.Conf["name"]
		if o.Conf["name"] == "" {
			conf["name"] = "Copy-of-VM-" + Itoa(o.Source.VMID)
		}
	}
	if c.Has("description") {
		conf["description"] = c.Text("description")
	}
	return conf, made, nil
}

func copyDrive(c *call, o *Copy, option, value string) (string, *volume, error) {
	d, err := guestconf.ParseDrive(option, value)
	if err != nil || !d.Volume() || d.CDROM() && !d.CloudInit() {
		return value, nil, err
	}
	name, _ := SplitVolume(d.File())
	st := c.State.Storages[name]
	if o.Storage != nil {
		st = o.Storage
	}
	src := c.State.Volume(o.Source.Node, d.File())
	if src == nil {
		return "", nil, Fail("volume '%s' does not exist", d.File())
	}
	v := copyVolume(c, o, d, st, src)
	d.Set("file", v.ID)
	d.Set("size", schema.FormatSize(v.Size))
	return d.String(), v, nil
}

// copyVolume makes the copy of a disk: of the whole, or one that refers to its base.
func copyVolume(c *call, o *Copy, d *guestconf.Drive, st *Storage, src *volume) *volume {
	switch {
	case d.CloudInit():
		return c.State.Allocate(st, o.Target, o.VMID, "vm-"+Itoa(o.VMID)+"-cloudinit", "qcow2", src.Size)
	case o.Full || d.Option == "tpmstate0":
		format := src.Format
		if f := c.Text("format"); f != "" {
			format = f
		}
		return c.State.Allocate(st, o.Target, o.VMID, c.State.FreeName(st, o.Target, o.VMID), format, src.Size)
	}
	name := c.State.FreeName(st, o.Target, o.VMID)
	_, base := SplitVolume(src.ID)
	v := &volume{Storage: st.Name, Node: o.Target, Content: "images", Format: "qcow2", Size: src.Size, VMID: o.VMID, Parent: src.ID}
	switch {
	case st.Files():
		v.ID = st.Name + ":" + base + "/" + Itoa(o.VMID) + "/" + name + ".qcow2"
	case st.Kind == "lvmthin":
		v.ID, v.Format = st.Name+":"+name, "raw"
	default:
		v.ID, v.Format = st.Name+":"+path.Base(base)+"/"+name, "raw"
	}
	c.State.PutVolume(v)
	return v
}
