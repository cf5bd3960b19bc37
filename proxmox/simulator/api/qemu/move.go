package qemu

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/ha"
)

// moveEndpoints move machines and disks. Source: qemu-server src/PVE/API2/Qemu.pm, QemuMigrate.pm.
func moveEndpoints() []*core.Endpoint {
	disk := core.Need("/vms/{vmid}", "VM.Config.Disk")
	names := movable()
	move := "storage storage-id; target-vmid vmid; target-disk enum(" + names + "); format enum(raw qcow2 vmdk); delete bool; digest string(..40); bwlimit int(0..); target-digest string(..40)"
	whole := "disk* enum(" + names + ");" + move
	return []*core.Endpoint{
		core.On("GET /nodes/{node}/qemu/{vmid}/migrate", core.Need("/vms/{vmid}", "VM.Migrate"), "target node", migrationCheck),
		core.On("POST /nodes/{node}/qemu/{vmid}/migrate", core.Need("/vms/{vmid}", "VM.Migrate"),
			`target* node; online bool; force bool; with-local-disks bool; targetstorage storage-pair-list; migration_type enum(secure insecure); migration_network cidr;
			bwlimit int(0..); with-conntrack-state bool`, migrateVM),
		core.On("POST /nodes/{node}/qemu/{vmid}/move_disk", disk, whole, moveDisk),
	}
}

// movable are the disks that can be moved, unused ones included.
func movable() string {
	names := guestconf.DriveNames()
	for i := range 256 {
		names = append(names, "unused"+core.Itoa(i))
	}
	return strings.Join(names, " ")
}

func migrationCheck(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	disks, cds := guest.LocalVolumes(c.State, g)
	local := []any{}
	for _, id := range append(disks, cds...) {
		if v := c.State.Volume(g.Node, id); v != nil {
			local = append(local, core.Row{"volid": id, "size": v.Size, "cdrom": core.Bit(v.Content == "iso"), "is_unused": 0})
		}
	}
	allowed, not := []string{}, core.Row{}
	for _, name := range c.State.NodeNames() {
		if name == g.Node {
			continue
		}
		missing := guest.MissingStorages(c.State, g, name)
		not[name] = core.Row{}
		if len(missing) > 0 {
			not[name] = core.Row{"unavailable_storages": missing}
			continue
		}
		allowed = append(allowed, name)
	}
	return core.Row{"running": core.Bit(g.State != core.Stopped), "allowed_nodes": allowed, "not_allowed_nodes": not, "local_disks": local, "local_resources": []any{},
		"mapped-resources": []any{}, "mapped-resource-info": core.Row{}, "has-dbus-vmstate": 1}, nil
}

func migrateVM(c *core.Call) (any, error) {
	node, to := c.Node(), c.Text("target")
	if c.State.Nodes[to] == nil {
		return nil, core.Fail("no such cluster node '%s'", to)
	}
	if to == node {
		return nil, core.Invalid("target", "target is local node.")
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	if r := c.State.HARequest(g.VMID); r != nil {
		return c.Fork(node, "hamigrate", core.Itoa(g.VMID), func(t *core.Task) error {
			c.State.HA.Commands = append(c.State.HA.Commands, core.HACommand{Kind: ha.Migrate, SID: r.SID, Node: to})
			c.State.ManageSoon()
			return t.Busy()
		}), nil
	}
	if g.State != core.Stopped && !c.Flag("online", false) {
		return nil, core.Fail("can't migrate running VM without --online")
	}
	for _, name := range guest.MissingStorages(c.State, g, to) {
		return nil, core.Fail("storage '%s' is not available on node '%s'", name, to)
	}
	withDisks := g.State == core.Stopped || c.Flag("with-local-disks", false)
	return c.Fork(node, "qmigrate", core.Itoa(g.VMID), func(t *core.Task) error { return guest.Migrate(c.State, t, node, to, g.VMID, withDisks) }), nil
}

func moveDisk(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if d := c.Text("digest"); d != "" && d != g.Digest() {
		return nil, core.Fail("checksum mismatch (file change by other user?)")
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	option := c.Text("disk")
	value, there := g.Conf[option]
	if !there {
		return nil, core.Fail("disk '%s' does not exist", option)
	}
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return nil, err
	}
	if d.CDROM() {
		return nil, core.Fail("you can't move a cdrom")
	}
	if c.Has("target-vmid") {
		return giveDisk(c, g, d)
	}
	return moveToStorage(c, g, d)
}

func moveToStorage(c *core.Call, g *core.Guest, d *guestconf.Drive) (any, error) {
	st, err := c.State.StorageOn(g.Node, c.Text("storage"))
	if err != nil {
		return nil, err
	}
	if err := c.Check("/storage/"+st.Name, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	old := c.State.Volume(g.Node, d.File())
	if old == nil {
		return nil, core.Fail("volume '%s' does not exist", d.File())
	}
	format := core.Or(c.Text("format"), old.Format)
	if old.Storage == st.Name && old.Format == format {
		return nil, core.Fail("you can't move to the same storage with same format")
	}
	return c.Fork(g.Node, "qmmove", core.Itoa(g.VMID), func(t *core.Task) error {
		v := c.State.Allocate(st, g.Node, g.VMID, c.State.FreeName(st, g.Node, g.VMID), format, old.Size)
		if err := t.Busy(); err != nil {
			c.State.DropVolume(v)
			return err
		}
		conf := core.CopyMap(g.Conf)
		d.Set("file", v.ID)
		conf[d.Option] = d.String()
		if c.Flag("delete", false) {
			c.State.DropVolume(old)
		} else {
			conf[core.FreeUnused(conf)] = old.ID
		}
		g.Conf = conf
		return nil
	}), nil
}

// giveDisk renames an image so that it belongs to another machine of the node.
func giveDisk(c *core.Call, g *core.Guest, d *guestconf.Drive) (any, error) {
	other, err := c.State.GuestOn(g.Node, "qemu", c.Number("target-vmid", 0))
	if err != nil {
		return nil, err
	}
	if err := c.Check("/vms/"+core.Itoa(other.VMID), "VM.Config.Disk"); err != nil {
		return nil, err
	}
	option := core.Or(c.Text("target-disk"), d.Option)
	if other.Conf[option] != "" {
		return nil, core.Fail("target disk key '%s' is already in use for guest '%d'", option, other.VMID)
	}
	return c.Fork(g.Node, "qmmove", core.Itoa(g.VMID)+"-"+core.Itoa(other.VMID), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		v := c.State.Volume(g.Node, d.File())
		if v == nil {
			return core.Fail("volume '%s' does not exist", d.File())
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
