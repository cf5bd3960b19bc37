package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/ha"
)

// moveEndpoints move machines and disks. Source: qemu-server src/PVE/API2/Qemu.pm, QemuMigrate.pm.
func moveEndpoints() []*Endpoint {
	disk := Need("/vms/{vmid}", "VM.Config.Disk")
	names := movable()
	move := "storage storage-id; target-vmid vmid; target-disk enum(" + names + "); format enum(raw qcow2 vmdk); delete bool; digest string(..40); bwlimit int(0..); target-digest string(..40)"
	whole := "disk* enum(" + names + ");" + move
	return []*Endpoint{
		On("GET /nodes/{node}/qemu/{vmid}/migrate", Need("/vms/{vmid}", "VM.Migrate"), "target node", migrationCheck),
		On("POST /nodes/{node}/qemu/{vmid}/migrate", Need("/vms/{vmid}", "VM.Migrate"),
			`target* node; online bool; force bool; with-local-disks bool; targetstorage storage-pair-list; migration_type enum(secure insecure); migration_network cidr;
			bwlimit int(0..); with-conntrack-state bool`, migrateVM),
		On("POST /nodes/{node}/qemu/{vmid}/move_disk", disk, whole, moveDisk),
	}
}

// movable are the disks that can be moved, unused ones included.
func movable() string {
	names := guestconf.DriveNames()
	for i := range 256 {
		names = append(names, "unused"+Itoa(i))
	}
	return strings.Join(names, " ")
}

func migrationCheck(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	disks, cds := LocalVolumes(c.State, g)
	local := []any{}
	for _, id := range append(disks, cds...) {
		if v := c.State.Volume(g.Node, id); v != nil {
			local = append(local, Row{"volid": id, "size": v.Size, "cdrom": Bit(v.Content == "iso"), "is_unused": 0})
		}
	}
	allowed, not := []string{}, Row{}
	for _, name := range c.State.NodeNames() {
		if name == g.Node {
			continue
		}
		missing := MissingStorages(c.State, g, name)
		not[name] = Row{}
		if len(missing) > 0 {
			not[name] = Row{"unavailable_storages": missing}
			continue
		}
		allowed = append(allowed, name)
	}
	return Row{"running": Bit(g.State != Stopped), "allowed_nodes": allowed, "not_allowed_nodes": not, "local_disks": local, "local_resources": []any{},
		"mapped-resources": []any{}, "mapped-resource-info": Row{}, "has-dbus-vmstate": 1}, nil
}

func migrateVM(c *call) (any, error) {
	node, to := c.Node(), c.Text("target")
	if c.State.Nodes[to] == nil {
		return nil, Fail("no such cluster node '%s'", to)
	}
	if to == node {
		return nil, Invalid("target", "target is local node.")
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	if r := c.State.HARequest(g.VMID); r != nil {
		return c.Fork(node, "hamigrate", Itoa(g.VMID), func(t *task) error {
			c.State.HA.Commands = append(c.State.HA.Commands, HACommand{ha.Migrate, r.SID, to})
			c.State.ManageSoon()
			return t.Busy()
		}), nil
	}
	if g.State != Stopped && !c.Flag("online", false) {
		return nil, Fail("can't migrate running VM without --online")
	}
	for _, name := range MissingStorages(c.State, g, to) {
		return nil, Fail("storage '%s' is not available on node '%s'", name, to)
	}
	withDisks := g.State == Stopped || c.Flag("with-local-disks", false)
	return c.Fork(node, "qmigrate", Itoa(g.VMID), func(t *task) error { return Migrate(c.State, t, node, to, g.VMID, withDisks) }), nil
}

func moveDisk(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if d := c.Text("digest"); d != "" && d != g.Digest() {
		return nil, Fail("checksum mismatch (file change by other user?)")
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	option := c.Text("disk")
	value, there := g.Conf[option]
	if !there {
		return nil, Fail("disk '%s' does not exist", option)
	}
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return nil, err
	}
	if d.CDROM() {
		return nil, Fail("you can't move a cdrom")
	}
	if c.Has("target-vmid") {
		return giveDisk(c, g, d)
	}
	return moveToStorage(c, g, d)
}

func moveToStorage(c *call, g *guest, d *guestconf.Drive) (any, error) {
	st, err := c.State.StorageOn(g.Node, c.Text("storage"))
	if err != nil {
		return nil, err
	}
	if err := c.Check("/storage/"+st.Name, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	old := c.State.Volume(g.Node, d.File())
	if old == nil {
		return nil, Fail("volume '%s' does not exist", d.File())
	}
	format := Or(c.Text("format"), old.Format)
	if old.Storage == st.Name && old.Format == format {
		return nil, Fail("you can't move to the same storage with same format")
	}
	return c.Fork(g.Node, "qmmove", Itoa(g.VMID), func(t *task) error {
		v := c.State.Allocate(st, g.Node, g.VMID, c.State.FreeName(st, g.Node, g.VMID), format, old.Size)
		if err := t.Busy(); err != nil {
			c.State.DropVolume(v)
			return err
		}
		conf := CopyMap(g.Conf)
		d.Set("file", v.ID)
		conf[d.Option] = d.String()
		if c.Flag("delete", false) {
			c.State.DropVolume(old)
		} else {
			conf[FreeUnused(conf)] = old.ID
		}
		g.Conf = conf
		return nil
	}), nil
}

// giveDisk renames an image so that it belongs to another machine of the node.
func giveDisk(c *call, g *guest, d *guestconf.Drive) (any, error) {
	other, err := c.State.GuestOn(g.Node, "qemu", c.Number("target-vmid", 0))
	if err != nil {
		return nil, err
	}
	if err := c.Check("/vms/"+Itoa(other.VMID), "VM.Config.Disk"); err != nil {
		return nil, err
	}
	option := Or(c.Text("target-disk"), d.Option)
	if other.Conf[option] != "" {
		return nil, Fail("target disk key '%s' is already in use for guest '%d'", option, other.VMID)
	}
	return c.Fork(g.Node, "qmmove", Itoa(g.VMID)+"-"+Itoa(other.VMID), func(t *task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		v := c.State.Volume(g.Node, d.File())
		if v == nil {
			return Fail("volume '%s' does not exist", d.File())
		}
		st := c.State.Storages[v.Storage]
		c.State.DropVolume(v)
		v.ID, v.VMID = st.ImageID(other.VMID, c.State.FreeName(st, g.Node, other.VMID), v.Format), other.VMID
		c.State.PutVolume(v)
		d.Set("file", v.ID)
		delete(g.Conf, d.Option)
		other.Conf[option] = (&guestconf.Drive{Option: option, Pairs: d.Pairs}).String()
		return nil
	}), nil
}
