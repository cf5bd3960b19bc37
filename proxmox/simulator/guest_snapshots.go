package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// snapshotEndpoints are the snapshots of machines and containers. Source: qemu-server src/PVE/API2/Qemu.pm, pve-container
// src/PVE/API2/LXC/Snapshot.pm, pve-guest-common src/PVE/AbstractConfig.pm.
func snapshotEndpoints() []*endpoint {
	audit, change := need("/vms/{vmid}", "VM.Audit"), need("/vms/{vmid}", "VM.Snapshot")
	const name = "snapname* configid(..40);"
	var list []*endpoint
	for _, kind := range []string{"qemu", "lxc"} {
		at := "/nodes/{node}/" + kind + "/{vmid}/snapshot"
		state := ""
		if kind == "qemu" {
			state = "vmstate bool"
		}
		list = append(list,
			on("GET "+at, audit, "", (*call).listSnapshots),
			on("POST "+at, change, name+"description string;"+state, (*call).takeSnapshot),
			on("GET "+at+"/{snapname}", anyone, name, index("rollback config"), anywhere),
			on("DELETE "+at+"/{snapname}", change, name+"force bool", (*call).deleteSnapshot),
			on("POST "+at+"/{snapname}/rollback", need("/vms/{vmid}", "VM.Snapshot|VM.Snapshot.Rollback"), name+"start bool", (*call).rollback),
			on("GET "+at+"/{snapname}/config", need("/vms/{vmid}", "VM.Snapshot|VM.Snapshot.Rollback|VM.Audit"), name, (*call).readSnapshot),
			on("PUT "+at+"/{snapname}/config", change, name+"description string", (*call).updateSnapshot))
	}
	return list
}

func (c *call) listSnapshots() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, name := range sortedKeys(g.snaps) {
		r := row{"name": name, "description": g.snaps[name]["description"], "snaptime": atoi64(g.snaps[name]["snaptime"])}
		if g.kind == "qemu" {
			r["vmstate"] = bit(g.snaps[name]["vmstate"] != "")
		}
		if p := g.snaps[name]["parent"]; p != "" {
			r["parent"] = p
		}
		rows = append(rows, r)
	}
	current := row{"name": "current", "description": "You are here!", "running": bit(g.state != stopped), "digest": g.digest()}
	if p := g.conf["parent"]; p != "" {
		current["parent"] = p
	}
	return append(rows, current), nil
}

// reservedSnapshot are names that mean something else, by the kind of guest.
var reservedSnapshot = map[string][]string{"qemu": {"current", "pending"}, "lxc": {"current", "vzdump"}}

func (c *call) takeSnapshot() (any, error) {
	name := c.text("snapname")
	if slices.Contains(reservedSnapshot[c.kind()], name) || c.kind() == "qemu" && strings.EqualFold(name, "pending") {
		return nil, fail("unable to use snapshot name '%s' (reserved name)", name)
	}
	if _, err := c.guest(); err != nil && c.kind() == "qemu" {
		return nil, err
	}
	node, vmid, kind := c.node(), c.vmid(), c.kind()
	return c.fork(node, prefixOf(kind)+"snapshot", itoa(vmid), func(t *task) error {
		g, err := c.s.guestOn(node, kind, vmid)
		if err != nil {
			return err
		}
		if err := c.snapshotPossible(g, name); err != nil {
			return err
		}
		g.conf["lock"] = "snapshot"
		err = t.busy()
		delete(g.conf, "lock")
		if err != nil {
			return err
		}
		return c.keepSnapshot(g, name)
	}), nil
}

func (c *call) snapshotPossible(g *guest, name string) error {
	if g.template() {
		return fail("you can't take a snapshot if it's a template")
	}
	if err := c.unlocked(g); err != nil {
		return err
	}
	if g.snaps[name] != nil {
		return fail("snapshot name '%s' already used", name)
	}
	for option, id := range guestconf.Images(g.conf) {
		if !guestconf.UnusedName.MatchString(option) && !strings.Contains(g.conf[option], "media=cdrom") && !c.s.snapshots(g.node, id) {
			return fail("snapshot feature is not available")
		}
	}
	return nil
}

// notInSnapshot are options that a snapshot does not hold.
func notInSnapshot(option string) bool {
	return slices.Contains([]string{"lock", "description", "snaptime", "vmstate"}, option) || guestconf.UnusedName.MatchString(option)
}

func (c *call) keepSnapshot(g *guest, name string) error {
	snap := map[string]string{"snaptime": itoa(int(c.s.unix()))}
	for option, value := range g.conf {
		if !notInSnapshot(option) {
			snap[option] = value
		}
	}
	if d := c.text("description"); d != "" {
		snap["description"] = d
	}
	if c.flag("vmstate", false) && g.state != stopped {
		state, err := c.s.saveState(g, name)
		if err != nil {
			return err
		}
		snap["vmstate"], snap["runningmachine"], snap["runningcpu"] = state, "pc-i440fx-10.0+pve0", "kvm64,enforce"
	}
	if g.snaps == nil {
		g.snaps = map[string]map[string]string{}
	}
	g.snaps[name] = snap
	g.conf["parent"] = name
	return nil
}

// saveState allocates the image that holds the memory of a machine: twice its size and some for its devices.
func (s *state) saveState(g *guest, name string) (string, error) {
	on := g.conf["vmstatestorage"]
	for _, id := range guestconf.Images(g.conf) {
		if on == "" {
			on, _ = splitVolume(id)
		}
	}
	st, err := s.storageOn(g.node, or(on, "local"))
	if err != nil {
		return "", err
	}
	size := 2*g.memory() + 500<<20
	if !s.fits(st, g.node, size) {
		return "", fail("unable to create image: No space left on device")
	}
	return s.allocate(st, g.node, g.vmid, "vm-"+itoa(g.vmid)+"-state-"+name, "raw", size).id, nil
}

func (c *call) deleteSnapshot() (any, error) {
	node, vmid, kind, name := c.node(), c.vmid(), c.kind(), c.text("snapname")
	return c.fork(node, prefixOf(kind)+"delsnapshot", itoa(vmid), func(t *task) error {
		g, err := c.s.guestOn(node, kind, vmid)
		if err != nil {
			return err
		}
		snap := g.snaps[name]
		if snap == nil {
			return fail("snapshot '%s' does not exist", name)
		}
		if err := c.unlocked(g); err != nil {
			return err
		}
		g.conf["lock"] = "snapshot-delete"
		err = t.busy()
		delete(g.conf, "lock")
		if err != nil {
			return err
		}
		c.s.remove(node, snap["vmstate"])
		for _, conf := range append(snapshotsOf(g), g.conf) {
			if conf["parent"] != name {
				continue
			}
			conf["parent"] = snap["parent"]
			if snap["parent"] == "" {
				delete(conf, "parent")
			}
		}
		delete(g.snaps, name)
		return nil
	}), nil
}

func snapshotsOf(g *guest) []map[string]string {
	var list []map[string]string
	for _, s := range g.snaps {
		list = append(list, s)
	}
	return list
}

func (c *call) rollback() (any, error) {
	node, vmid, kind, name := c.node(), c.vmid(), c.kind(), c.text("snapname")
	start := c.flag("start", false)
	if start {
		if err := c.check("/vms/"+itoa(vmid), "VM.PowerMgmt"); err != nil {
			return nil, err
		}
	}
	return c.fork(node, prefixOf(kind)+"rollback", itoa(vmid), func(t *task) error {
		g, err := c.s.guestOn(node, kind, vmid)
		if err != nil {
			return err
		}
		snap := g.snaps[name]
		switch {
		case g.template():
			return fail("you can't rollback if vm is a template")
		case snap == nil:
			return fail("snapshot '%s' does not exist", name)
		}
		if err := c.unlocked(g); err != nil {
			return err
		}
		c.s.powerOff(t, g)
		g.conf["lock"] = "rollback"
		err = t.busy()
		delete(g.conf, "lock")
		if err != nil {
			return err
		}
		c.s.turnBack(g, name)
		if snap["vmstate"] == "" && !start {
			return nil
		}
		return c.s.powerOn(t, node, vmid, true)
	}), nil
}

// turnBack gives a guest the configuration of a snapshot. Disks that it did not have then stay as unused ones.
func (s *state) turnBack(g *guest, name string) {
	snap := g.snaps[name]
	conf := map[string]string{"parent": name}
	for option, value := range g.conf {
		if guestconf.UnusedName.MatchString(option) || option == "description" {
			conf[option] = value
		}
	}
	had := guestconf.Images(snap)
	for option, value := range snap {
		if !notInSnapshot(option) && option != "parent" && !strings.HasPrefix(option, "running") {
			conf[option] = value
		}
	}
	for option, id := range guestconf.Images(g.conf) {
		if !guestconf.UnusedName.MatchString(option) && !strings.Contains(g.conf[option], "media=cdrom") && !hasValue(had, id) {
			conf[freeUnused(conf)] = id
		}
	}
	g.conf, g.pending, g.removed = conf, nil, nil
	for option, id := range had {
		if v := s.volume(g.node, id); v != nil && v.vmid == g.vmid {
			if size := guestconf.SizeIn(snap[option]); size > 0 {
				v.size = size
			}
		}
	}
}

func hasValue(m map[string]string, value string) bool {
	for _, v := range m {
		if v == value {
			return true
		}
	}
	return false
}

// snapshotOf is the snapshot that the path names.
func (c *call) snapshotOf() (*guest, map[string]string, error) {
	g, err := c.guest()
	if err != nil {
		return nil, nil, err
	}
	snap := g.snaps[c.text("snapname")]
	if snap == nil {
		return nil, nil, fail("snapshot '%s' does not exist", c.text("snapname"))
	}
	return g, snap, nil
}

func (c *call) readSnapshot() (any, error) {
	g, snap, err := c.snapshotOf()
	if err != nil {
		return nil, err
	}
	data := row{}
	for k, v := range snap {
		data[k] = g.shown(k, v)
		if k == "snaptime" {
			data[k] = integer(v)
		}
	}
	return data, nil
}

func (c *call) updateSnapshot() (any, error) {
	if !c.has("description") {
		return nil, nil
	}
	g, snap, err := c.snapshotOf()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	snap["description"] = c.text("description")
	return nil, nil
}
