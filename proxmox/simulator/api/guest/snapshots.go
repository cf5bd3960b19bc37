package guest

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// snapshotEndpoints are the snapshots of machines and containers. Source: qemu-server src/PVE/API2/Qemu.pm, pve-container
// src/PVE/API2/LXC/Snapshot.pm, pve-guest-common src/PVE/AbstractConfig.pm.
func snapshotEndpoints() []*core.Endpoint {
	audit, change := core.Need("/vms/{vmid}", "VM.Audit"), core.Need("/vms/{vmid}", "VM.Snapshot")
	const name = "snapname* configid(..40);"
	var list []*core.Endpoint
	for _, kind := range []string{"qemu", "lxc"} {
		at := "/nodes/{node}/" + kind + "/{vmid}/snapshot"
		state := ""
		if kind == "qemu" {
			state = "vmstate bool"
		}
		list = append(list,
			core.On("GET "+at, audit, "", listSnapshots),
			core.On("POST "+at, change, name+"description string;"+state, takeSnapshot),
			core.On("GET "+at+"/{snapname}", core.Anyone, name, core.Index("rollback config"), core.Anywhere),
			core.On("DELETE "+at+"/{snapname}", change, name+"force bool", deleteSnapshot),
			core.On("POST "+at+"/{snapname}/rollback", core.Need("/vms/{vmid}", "VM.Snapshot|VM.Snapshot.Rollback"), name+"start bool", rollback),
			core.On("GET "+at+"/{snapname}/config", core.Need("/vms/{vmid}", "VM.Snapshot|VM.Snapshot.Rollback|VM.Audit"), name, readSnapshot),
			core.On("PUT "+at+"/{snapname}/config", change, name+"description string", updateSnapshot))
	}
	return list
}

func listSnapshots(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, name := range core.SortedKeys(g.Snaps) {
		r := core.Row{"name": name, "description": g.Snaps[name]["description"], "snaptime": core.Atoi64(g.Snaps[name]["snaptime"])}
		if g.Kind == "qemu" {
			r["vmstate"] = core.Bit(g.Snaps[name]["vmstate"] != "")
		}
		if p := g.Snaps[name]["parent"]; p != "" {
			r["parent"] = p
		}
		rows = append(rows, r)
	}
	current := core.Row{"name": "current", "description": "You are here!", "running": core.Bit(g.State != core.Stopped), "digest": g.Digest()}
	if p := g.Conf["parent"]; p != "" {
		current["parent"] = p
	}
	return append(rows, current), nil
}

// reservedSnapshot are names that mean something else, by the kind of guest.
var reservedSnapshot = map[string][]string{"qemu": {"current", "pending"}, "lxc": {"current", "vzdump"}}

func takeSnapshot(c *core.Call) (any, error) {
	name := c.Text("snapname")
	if slices.Contains(reservedSnapshot[c.Kind()], name) || c.Kind() == "qemu" && strings.EqualFold(name, "pending") {
		return nil, core.Fail("unable to use snapshot name '%s' (reserved name)", name)
	}
	if _, err := c.Guest(); err != nil && c.Kind() == "qemu" {
		return nil, err
	}
	node, vmid, kind := c.Node(), c.VMID(), c.Kind()
	return c.Fork(node, core.PrefixOf(kind)+"snapshot", core.Itoa(vmid), func(t *core.Task) error {
		g, err := c.State.GuestOn(node, kind, vmid)
		if err != nil {
			return err
		}
		if err := snapshotPossible(c, g, name); err != nil {
			return err
		}
		g.Conf["lock"] = "snapshot"
		err = t.Busy()
		delete(g.Conf, "lock")
		if err != nil {
			return err
		}
		return keepSnapshot(c, g, name)
	}), nil
}

func snapshotPossible(c *core.Call, g *core.Guest, name string) error {
	if g.Template() {
		return core.Fail("you can't take a snapshot if it's a template")
	}
	if err := c.Unlocked(g); err != nil {
		return err
	}
	if g.Snaps[name] != nil {
		return core.Fail("snapshot name '%s' already used", name)
	}
	for option, id := range guestconf.Images(g.Conf) {
		if !guestconf.UnusedName.MatchString(option) && !strings.Contains(g.Conf[option], "media=cdrom") && !c.State.CanSnapshot(g.Node, id) {
			return core.Fail("snapshot feature is not available")
		}
	}
	return nil
}

// notInSnapshot are options that a snapshot does not hold.
func notInSnapshot(option string) bool {
	return slices.Contains([]string{"lock", "description", "snaptime", "vmstate"}, option) || guestconf.UnusedName.MatchString(option)
}

func keepSnapshot(c *core.Call, g *core.Guest, name string) error {
	snap := map[string]string{"snaptime": core.Itoa(int(c.State.Unix()))}
	for option, value := range g.Conf {
		if !notInSnapshot(option) {
			snap[option] = value
		}
	}
	if d := c.Text("description"); d != "" {
		snap["description"] = d
	}
	if c.Flag("vmstate", false) && g.State != core.Stopped {
		state, err := saveState(c.State, g, name)
		if err != nil {
			return err
		}
		snap["vmstate"], snap["runningmachine"], snap["runningcpu"] = state, "pc-i440fx-10.0+pve0", "kvm64,enforce"
	}
	if g.Snaps == nil {
		g.Snaps = map[string]map[string]string{}
	}
	g.Snaps[name] = snap
	g.Conf["parent"] = name
	return nil
}

// saveState allocates the image that holds the memory of a machine: twice its size and some for its devices.
func saveState(s *core.State, g *core.Guest, name string) (string, error) {
	on := g.Conf["vmstatestorage"]
	for _, id := range guestconf.Images(g.Conf) {
		if on == "" {
			on, _ = core.SplitVolume(id)
		}
	}
	st, err := s.StorageOn(g.Node, core.Or(on, "local"))
	if err != nil {
		return "", err
	}
	size := 2*g.Memory() + 500<<20
	if !s.Fits(st, g.Node, size) {
		return "", core.Fail("unable to create image: No space left on device")
	}
	return s.Allocate(st, g.Node, g.VMID, "vm-"+core.Itoa(g.VMID)+"-state-"+name, "raw", size).ID, nil
}

func deleteSnapshot(c *core.Call) (any, error) {
	node, vmid, kind, name := c.Node(), c.VMID(), c.Kind(), c.Text("snapname")
	return c.Fork(node, core.PrefixOf(kind)+"delsnapshot", core.Itoa(vmid), func(t *core.Task) error {
		g, err := c.State.GuestOn(node, kind, vmid)
		if err != nil {
			return err
		}
		snap := g.Snaps[name]
		if snap == nil {
			return core.Fail("snapshot '%s' does not exist", name)
		}
		if err := c.Unlocked(g); err != nil {
			return err
		}
		g.Conf["lock"] = "snapshot-delete"
		err = t.Busy()
		delete(g.Conf, "lock")
		if err != nil {
			return err
		}
		c.State.RemoveVolume(node, snap["vmstate"])
		for _, conf := range append(snapshotsOf(g), g.Conf) {
			if conf["parent"] != name {
				continue
			}
			conf["parent"] = snap["parent"]
			if snap["parent"] == "" {
				delete(conf, "parent")
			}
		}
		delete(g.Snaps, name)
		return nil
	}), nil
}

func snapshotsOf(g *core.Guest) []map[string]string {
	var list []map[string]string
	for _, s := range g.Snaps {
		list = append(list, s)
	}
	return list
}

func rollback(c *core.Call) (any, error) {
	node, vmid, kind, name := c.Node(), c.VMID(), c.Kind(), c.Text("snapname")
	start := c.Flag("start", false)
	if start {
		if err := c.Check("/vms/"+core.Itoa(vmid), "VM.PowerMgmt"); err != nil {
			return nil, err
		}
	}
	return c.Fork(node, core.PrefixOf(kind)+"rollback", core.Itoa(vmid), func(t *core.Task) error {
		g, err := c.State.GuestOn(node, kind, vmid)
		if err != nil {
			return err
		}
		snap := g.Snaps[name]
		switch {
		case g.Template():
			return core.Fail("you can't rollback if vm is a template")
		case snap == nil:
			return core.Fail("snapshot '%s' does not exist", name)
		}
		if err := c.Unlocked(g); err != nil {
			return err
		}
		PowerOff(c.State, t, g)
		g.Conf["lock"] = "rollback"
		err = t.Busy()
		delete(g.Conf, "lock")
		if err != nil {
			return err
		}
		turnBack(c.State, g, name)
		if snap["vmstate"] == "" && !start {
			return nil
		}
		return PowerOn(c.State, t, node, vmid, true)
	}), nil
}

// turnBack gives a guest the configuration of a snapshot. Disks that it did not have then stay as unused ones.
func turnBack(s *core.State, g *core.Guest, name string) {
	snap := g.Snaps[name]
	conf := map[string]string{"parent": name}
	for option, value := range g.Conf {
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
	for option, id := range guestconf.Images(g.Conf) {
		if !guestconf.UnusedName.MatchString(option) && !strings.Contains(g.Conf[option], "media=cdrom") && !hasValue(had, id) {
			conf[core.FreeUnused(conf)] = id
		}
	}
	g.Conf, g.Pending, g.Removed = conf, nil, nil
	for option, id := range had {
		if v := s.Volume(g.Node, id); v != nil && v.VMID == g.VMID {
			if size := guestconf.SizeIn(snap[option]); size > 0 {
				v.Size = size
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
func snapshotOf(c *core.Call) (*core.Guest, map[string]string, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, nil, err
	}
	snap := g.Snaps[c.Text("snapname")]
	if snap == nil {
		return nil, nil, core.Fail("snapshot '%s' does not exist", c.Text("snapname"))
	}
	return g, snap, nil
}

func readSnapshot(c *core.Call) (any, error) {
	g, snap, err := snapshotOf(c)
	if err != nil {
		return nil, err
	}
	data := core.Row{}
	for k, v := range snap {
		data[k] = g.Shown(k, v)
		if k == "snaptime" {
			data[k] = core.Integer(v)
		}
	}
	return data, nil
}

func updateSnapshot(c *core.Call) (any, error) {
	if !c.Has("description") {
		return nil, nil
	}
	g, snap, err := snapshotOf(c)
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	snap["description"] = c.Text("description")
	return nil, nil
}
