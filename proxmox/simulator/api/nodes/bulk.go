package nodes

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// bulk is something that is done to many guests at once: to those of a node, or of the whole cluster.
type bulk struct {
	verb       string // start, shutdown, suspend or migrate
	node       string // name of the call for a node, such as stopall
	privilege  string
	own, whole string // parameters of the call for a node, and for the cluster
}

var bulks = []bulk{
	{"start", "startall", "VM.PowerMgmt", "force bool;", "timeout int;"},
	{"shutdown", "stopall", "VM.PowerMgmt", "force-stop bool; timeout int(0..7200);", "force-stop bool; timeout int;"},
	{"suspend", "suspendall", "VM.PowerMgmt", "", "to-disk bool; statestorage storage-id requires=to-disk;"},
	{"migrate", "migrateall", "VM.Migrate", "target* node; with-local-disks bool; maxworkers int(1..64);", "target* node; online bool; with-local-disks bool;"},
}

// bulkEndpoints do things to many guests. Source: pve-manager PVE/API2/Nodes.pm, PVE/API2/Cluster/BulkAction/Guest.pm.
func bulkEndpoints() []*core.Endpoint {
	list := []*core.Endpoint{
		core.On("GET /cluster/bulk-action", core.Anyone, "", core.Index("guest")),
		core.On("GET /cluster/bulk-action/guest", core.Anyone, "", core.Index("start shutdown migrate suspend")),
	}
	for _, b := range bulks {
		list = append(list,
			core.On("POST /nodes/{node}/"+b.node, core.Anyone, b.own+"max-workers int(1..64); vms vmid-list", b.onNode),
			core.On("POST /cluster/bulk-action/guest/"+b.verb, core.Anyone, b.whole+"max-workers int(1..64); maxworkers int(1..64); vms array", b.onCluster))
	}
	return list
}

// named are the guests that the call names.
func named(c *core.Call) []int {
	var ids []int
	list := c.List("vms")
	if several, is := c.Params["vms"].([]any); is {
		list = schema.SplitList(schema.Join(several))
	}
	for _, text := range list {
		if id, err := strconv.Atoi(text); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// may asks for the privilege on the whole cluster, or on every guest that is named.
func (b bulk) may(c *core.Call, ids []int) error {
	if c.May("/", b.privilege) {
		return nil
	}
	if len(ids) == 0 {
		return core.Denied("/, " + b.privilege)
	}
	for _, id := range ids {
		if err := c.Check("/vms/"+core.Itoa(id), b.privilege); err != nil {
			return err
		}
	}
	return nil
}

func (b bulk) onNode(c *core.Call) (any, error) {
	ids := named(c)
	if err := b.may(c, ids); err != nil {
		return nil, err
	}
	if b.verb == "migrate" && c.State.Nodes[c.Text("target")] == nil {
		return nil, core.Fail("no such cluster node '%s'", c.Text("target"))
	}
	node := c.Node()
	autostart := b.verb == "start" && !c.Flag("force", false) && len(ids) == 0
	return c.Fork(node, b.node, "", func(t *core.Task) error {
		b.all(t, c, func(g *core.Guest) bool {
			return g.Node == node && (len(ids) == 0 || slices.Contains(ids, g.VMID)) && (!autostart || g.Conf["onboot"] == "1") && c.State.HARequest(g.VMID) == nil
		})
		return t.Busy()
	}), nil
}

func (b bulk) onCluster(c *core.Call) (any, error) {
	ids := named(c)
	if len(ids) > 0 {
		for _, id := range ids {
			if err := c.Check("/vms/"+core.Itoa(id), b.privilege); err != nil {
				return nil, err
			}
		}
	} else if err := b.may(c, nil); err != nil {
		return nil, err
	}
	return c.Fork(c.State.Local, "bulk-"+b.verb, "", func(t *core.Task) error {
		failed := b.all(t, c, func(g *core.Guest) bool {
			return c.State.Nodes[g.Node].Online && (len(ids) == 0 || slices.Contains(ids, g.VMID))
		})
		if err := t.Busy(); err != nil {
			return err
		}
		if len(failed) > 0 {
			return core.Fail("Some guests failed to %s: %s", b.verb, strings.Join(failed, ", "))
		}
		return nil
	}), nil
}

// all does it to every guest that is meant, each in a task of its own, and returns those with which it went wrong at once.
func (b bulk) all(t *core.Task, c *core.Call, meant func(*core.Guest) bool) (failed []string) {
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if g == nil || g.Template() || !meant(g) || (g.State == core.Stopped) != (b.verb == "start") && b.verb != "migrate" {
			continue
		}
		t.Say("%s %s %d", b.verb, map[string]string{"qemu": "VM", "lxc": "CT"}[g.Kind], vmid)
		upid := b.one(c, g)
		if one := c.State.TaskByID[upid]; one != nil && !one.Ended.IsZero() && one.Exit != "OK" {
			failed = append(failed, core.Itoa(vmid))
		}
	}
	return failed
}

// one starts the task for a guest and returns its UPID.
func (b bulk) one(c *core.Call, g *core.Guest) string {
	s, node, id := c.State, g.Node, core.Itoa(g.VMID)
	switch b.verb {
	case "start":
		return s.Fork(c, node, core.PrefixOf(g.Kind)+"start", id, func(t *core.Task) error { return guest.PowerOn(s, t, node, g.VMID, false) })
	case "migrate":
		to := c.Text("target")
		if to == node {
			return ""
		}
		return s.Fork(c, node, map[string]string{"qemu": "qmigrate", "lxc": "vzmigrate"}[g.Kind], id, func(t *core.Task) error {
			return guest.Migrate(s, t, node, to, g.VMID, c.Flag("with-local-disks", false))
		})
	}
	return s.Fork(c, node, core.PrefixOf(g.Kind)+b.verb, id, func(t *core.Task) error {
		if b.verb == "suspend" && g.Kind == "qemu" && !c.Flag("to-disk", false) {
			g.State = core.Paused
			return t.Busy()
		}
		if err := t.Busy(); err != nil {
			return err
		}
		guest.PowerOff(s, t, g)
		return nil
	})
}
