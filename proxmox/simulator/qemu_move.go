package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/ha"
)

// moveEndpoints move machines and disks. Source: qemu-server src/PVE/API2/Qemu.pm, QemuMigrate.pm.
func moveEndpoints() []*endpoint {
	disk := need("/vms/{vmid}", "VM.Config.Disk")
	names := movable()
	move := "storage storage-id; target-vmid vmid; target-disk enum(" + names + "); format enum(raw qcow2 vmdk); delete bool; digest string(..40); bwlimit int(0..); target-digest string(..40)"
	whole := "disk* enum(" + names + ");" + move
	return []*endpoint{
		on("GET /nodes/{node}/qemu/{vmid}/migrate", need("/vms/{vmid}", "VM.Migrate"), "target node", (*call).migrationCheck),
		on("POST /nodes/{node}/qemu/{vmid}/migrate", need("/vms/{vmid}", "VM.Migrate"),
			`target* node; online bool; force bool; with-local-disks bool; targetstorage storage-pair-list; migration_type enum(secure insecure); migration_network cidr;
			bwlimit int(0..); with-conntrack-state bool`, (*call).migrateVM),
		on("POST /nodes/{node}/qemu/{vmid}/move_disk", disk, whole, (*call).moveDisk),
	}
}

// movable are the disks that can be moved, unused ones included.
func movable() string {
	names := guestconf.DriveNames()
	for i := range 256 {
		names = append(names, "unused"+itoa(i))
	}
	return strings.Join(names, " ")
}

func (c *call) migrationCheck() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	disks, cds := c.s.localVolumes(g)
	local := []any{}
	for _, id := range append(disks, cds...) {
		if v := c.s.volume(g.node, id); v != nil {
			local = append(local, row{"volid": id, "size": v.size, "cdrom": bit(v.content == "iso"), "is_unused": 0})
		}
	}
	allowed, not := []string{}, row{}
	for _, name := range c.s.nodeNames() {
		if name == g.node {
			continue
		}
		missing := c.s.missingStorages(g, name)
		not[name] = row{}
		if len(missing) > 0 {
			not[name] = row{"unavailable_storages": missing}
			continue
		}
		allowed = append(allowed, name)
	}
	return row{"running": bit(g.state != stopped), "allowed_nodes": allowed, "not_allowed_nodes": not, "local_disks": local, "local_resources": []any{},
		"mapped-resources": []any{}, "mapped-resource-info": row{}, "has-dbus-vmstate": 1}, nil
}

func (c *call) migrateVM() (any, error) {
	node, to := c.node(), c.text("target")
	if c.s.nodes[to] == nil {
		return nil, fail("no such cluster node '%s'", to)
	}
	if to == node {
		return nil, invalid("target", "target is local node.")
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	if r := c.s.haRequest(g.vmid); r != nil {
		return c.fork(node, "hamigrate", itoa(g.vmid), func(t *task) error {
			c.s.ha.commands = append(c.s.ha.commands, haCommand{ha.Migrate, r.sid, to})
			c.s.manageSoon()
			return t.busy()
		}), nil
	}
	if g.state != stopped && !c.flag("online", false) {
		return nil, fail("can't migrate running VM without --online")
	}
	for _, name := range c.s.missingStorages(g, to) {
		return nil, fail("storage '%s' is not available on node '%s'", name, to)
	}
	withDisks := g.state == stopped || c.flag("with-local-disks", false)
	return c.fork(node, "qmigrate", itoa(g.vmid), func(t *task) error { return c.s.migrate(t, node, to, g.vmid, withDisks) }), nil
}

func (c *call) moveDisk() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if d := c.text("digest"); d != "" && d != g.digest() {
		return nil, fail("checksum mismatch (file change by other user?)")
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	option := c.text("disk")
	value, there := g.conf[option]
	if !there {
		return nil, fail("disk '%s' does not exist", option)
	}
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return nil, err
	}
	if d.CDROM() {
		return nil, fail("you can't move a cdrom")
	}
	if c.has("target-vmid") {
		return c.giveDisk(g, d)
	}
	return c.moveToStorage(g, d)
}

func (c *call) moveToStorage(g *guest, d *guestconf.Drive) (any, error) {
	st, err := c.s.storageOn(g.node, c.text("storage"))
	if err != nil {
		return nil, err
	}
	if err := c.check("/storage/"+st.name, "Datastore.AllocateSpace"); err != nil {
		return nil, err
	}
	old := c.s.volume(g.node, d.File())
	if old == nil {
		return nil, fail("volume '%s' does not exist", d.File())
	}
	format := or(c.text("format"), old.format)
	if old.storage == st.name && old.format == format {
		return nil, fail("you can't move to the same storage with same format")
	}
	return c.fork(g.node, "qmmove", itoa(g.vmid), func(t *task) error {
		v := c.s.allocate(st, g.node, g.vmid, c.s.freeName(st, g.node, g.vmid), format, old.size)
		if err := t.busy(); err != nil {
			c.s.dropVolume(v)
			return err
		}
		conf := copyMap(g.conf)
		d.Set("file", v.id)
		conf[d.Option] = d.String()
		if c.flag("delete", false) {
			c.s.dropVolume(old)
		} else {
			conf[freeUnused(conf)] = old.id
		}
		g.conf = conf
		return nil
	}), nil
}

// giveDisk renames an image so that it belongs to another machine of the node.
func (c *call) giveDisk(g *guest, d *guestconf.Drive) (any, error) {
	other, err := c.s.guestOn(g.node, "qemu", c.number("target-vmid", 0))
	if err != nil {
		return nil, err
	}
	if err := c.check("/vms/"+itoa(other.vmid), "VM.Config.Disk"); err != nil {
		return nil, err
	}
	option := or(c.text("target-disk"), d.Option)
	if other.conf[option] != "" {
		return nil, fail("target disk key '%s' is already in use for guest '%d'", option, other.vmid)
	}
	return c.fork(g.node, "qmmove", itoa(g.vmid)+"-"+itoa(other.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		v := c.s.volume(g.node, d.File())
		if v == nil {
			return fail("volume '%s' does not exist", d.File())
		}
		st := c.s.storages[v.storage]
		c.s.dropVolume(v)
		v.id, v.vmid = st.imageID(other.vmid, c.s.freeName(st, g.node, other.vmid), v.format), other.vmid
		c.s.putVolume(v)
		d.Set("file", v.id)
		delete(g.conf, d.Option)
		other.conf[option] = (&guestconf.Drive{Option: option, Pairs: d.Pairs}).String()
		return nil
	}), nil
}
