package simulator

import (
	"path"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// cloneEndpoints copy, convert and delete virtual machines. Source: qemu-server src/PVE/API2/Qemu.pm.
func cloneEndpoints() []*endpoint {
	return []*endpoint{
		on("POST /nodes/{node}/qemu/{vmid}/clone",
			all(need("/vms/{vmid}", "VM.Clone"), either(need("/vms/{newid}", "VM.Allocate"), given("pool", need("/pool/{pool}", "VM.Allocate")))),
			`newid* vmid; name dns-name; description string; pool poolid; snapname configid(..40); storage storage-id; format enum(raw qcow2 vmdk);
			full bool; target node; bwlimit int(0..)`, (*call).cloneVM),
		on("POST /nodes/{node}/qemu/{vmid}/template", need("/vms/{vmid}", "VM.Allocate"), "disk enum("+strings.Join(guestconf.DriveNames(), " ")+")", (*call).makeTemplate),
		on("DELETE /nodes/{node}/qemu/{vmid}", need("/vms/{vmid}", "VM.Allocate"), "purge bool; destroy-unreferenced-disks bool; skiplock bool", (*call).destroyVM),
	}
}

func (c *call) cloneVM() (any, error) {
	if err := c.poolExists(c.text("pool")); err != nil {
		return nil, err
	}
	o := &copyOf{newid: c.number("newid", 0), target: c.text("target")}
	for _, step := range []func(*call, *copyOf) error{(*call).cloneTarget, (*call).cloneSource, (*call).cloneOptions, (*call).cloneDisks, (*call).cloneCards, (*call).cloneFree} {
		if err := step(c, o); err != nil {
			return nil, err
		}
	}
	return c.fork(c.node(), "qmclone", itoa(c.vmid()), func(t *task) error { return c.clone(t, o) }), nil
}

func (c *call) cloneSource(o *copyOf) error {
	g, err := c.s.foundOn(c.node(), c.vmid())
	if err != nil {
		return err
	}
	if err := c.unlocked(g); err != nil {
		return err
	}
	o.source, o.conf = g, g.conf
	if name := c.text("snapname"); name != "" {
		snap, ok := g.snaps[name]
		if !ok {
			return fail("snapshot '%s' does not exist", name)
		}
		o.conf = snap
	}
	o.full = c.flag("full", !g.template())
	return nil
}

func (c *call) cloneOptions(o *copyOf) error {
	for _, name := range []string{"storage", "format"} {
		if !o.full && c.has(name) {
			return fail("parameter '%s' not allowed for linked clones", name)
		}
	}
	return nil
}

// cloneDisks asks for the space, and whether every disk can be copied in the way that was asked for.
func (c *call) cloneDisks(o *copyOf) error {
	for _, d := range guestconf.Drives(o.conf) {
		if !d.Volume() {
			continue
		}
		name, rest := splitVolume(d.File())
		st := c.s.storages[name]
		if st == nil {
			return fail("storage '%s' does not exist", name)
		}
		if o.target != c.node() && !st.shared {
			return fail("can't clone VM to node '%s' (VM uses local storage)", o.target)
		}
		if d.CDROM() && !d.CloudInit() {
			continue
		}
		if !o.full && !d.CloudInit() && d.Option != "tpmstate0" {
			if p, err := st.parseVolume(rest); err != nil || !p.isBase || st.kind == "lvm" {
				return fail("Linked clone feature is not supported for '%s' (%s)", d.File(), d.Option)
			}
		}
		if o.storage != nil {
			name = o.storage.name
		}
		if err := c.check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
			return err
		}
	}
	return nil
}

// cloneCards asks for the use of the source's bridges, even if the copy will be attached to others.
func (c *call) cloneCards(o *copyOf) error {
	for _, name := range sortedKeys(o.conf) {
		if guestconf.NetName.MatchString(name) {
			if err := c.checkBridge(o.conf[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *call) cloneFree(o *copyOf) error {
	if g := c.s.guests[o.newid]; g != nil && g.node == c.node() {
		return fail("unable to create VM %d: config file already exists", o.newid)
	}
	return nil
}

// clone is the task: a locked configuration comes first, the disks, and last the pool.
func (c *call) clone(t *task, o *copyOf) error {
	s := c.s
	if s.guests[o.newid] != nil {
		return fail("close (rename) atomic file '/etc/pve/nodes/%s/qemu-server/%d.conf' failed: File exists", t.node, o.newid)
	}
	g := &guest{vmid: o.newid, kind: "qemu", node: t.node, conf: map[string]string{"lock": "clone"}, state: stopped}
	s.guests[o.newid] = g
	conf, made, err := c.copyConfig(o)
	if err == nil {
		err = t.busy()
	}
	if err == nil && s.guests[o.source.vmid] != o.source {
		err = fail("unable to find configuration file for VM %d on node '%s'", o.source.vmid, t.node)
	}
	if err != nil {
		for _, v := range made {
			s.dropVolume(v)
		}
		delete(s.guests, o.newid)
		return fail("clone failed: %s", flat(err))
	}
	g.conf, g.node = conf, o.target
	if pool := s.acl.Pools[c.text("pool")]; pool != nil {
		pool.VMs[o.newid] = true
		s.acl.Changed()
	}
	return nil
}

func (c *call) copyConfig(o *copyOf) (conf map[string]string, made []*volume, err error) {
	conf = map[string]string{}
	for name, value := range o.conf {
		switch {
		case guestconf.UnusedName.MatchString(name), slices.Contains(notCopied, name):
		case guestconf.NetName.MatchString(name):
			card, err := guestconf.FormatOf(name).ParseProperties(name, value)
			if err != nil {
				return nil, made, err
			}
			card.Delete("macaddr")
			if conf[name], err = netValue(name, guestconf.FormatOf(name).Print(card), c.s.options["mac_prefix"]); err != nil {
				return nil, made, err
			}
		case guestconf.DriveName.MatchString(name):
			stored, v, err := c.copyDrive(o, name, value)
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
	conf["smbios1"] = withUUID(conf["smbios1"])
	if conf["vmgenid"] != "" {
		conf["vmgenid"] = newUUID()
	}
	conf["name"] = c.text("name")
	if conf["name"] == "" {
		conf["name"] = "Copy-of-VM-" + o.conf["name"]
		if o.conf["name"] == "" {
			conf["name"] = "Copy-of-VM-" + itoa(o.source.vmid)
		}
	}
	if c.has("description") {
		conf["description"] = c.text("description")
	}
	return conf, made, nil
}

func (c *call) copyDrive(o *copyOf, option, value string) (string, *volume, error) {
	d, err := guestconf.ParseDrive(option, value)
	if err != nil || !d.Volume() || d.CDROM() && !d.CloudInit() {
		return value, nil, err
	}
	name, _ := splitVolume(d.File())
	st := c.s.storages[name]
	if o.storage != nil {
		st = o.storage
	}
	src := c.s.volume(o.source.node, d.File())
	if src == nil {
		return "", nil, fail("volume '%s' does not exist", d.File())
	}
	v := c.copyVolume(o, d, st, src)
	d.Set("file", v.id)
	d.Set("size", schema.FormatSize(v.size))
	return d.String(), v, nil
}

// copyVolume makes the copy of a disk: of the whole, or one that refers to its base.
func (c *call) copyVolume(o *copyOf, d *guestconf.Drive, st *storage, src *volume) *volume {
	switch {
	case d.CloudInit():
		return c.s.allocate(st, o.target, o.newid, "vm-"+itoa(o.newid)+"-cloudinit", "qcow2", src.size)
	case o.full || d.Option == "tpmstate0":
		format := src.format
		if f := c.text("format"); f != "" {
			format = f
		}
		return c.s.allocate(st, o.target, o.newid, c.s.freeName(st, o.target, o.newid), format, src.size)
	}
	name := c.s.freeName(st, o.target, o.newid)
	_, base := splitVolume(src.id)
	v := &volume{storage: st.name, node: o.target, content: "images", format: "qcow2", size: src.size, vmid: o.newid, parent: src.id}
	switch {
	case st.files():
		v.id = st.name + ":" + base + "/" + itoa(o.newid) + "/" + name + ".qcow2"
	case st.kind == "lvmthin":
		v.id, v.format = st.name+":"+name, "raw"
	default:
		v.id, v.format = st.name+":"+path.Base(base)+"/"+name, "raw"
	}
	c.s.putVolume(v)
	return v
}
