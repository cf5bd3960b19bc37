package simulator

import (
	"slices"
	"strconv"
	"strings"

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
func bulkEndpoints() []*Endpoint {
	list := []*Endpoint{
		On("GET /cluster/bulk-action", Anyone, "", Index("guest")),
		On("GET /cluster/bulk-action/guest", Anyone, "", Index("start shutdown migrate suspend")),
	}
	for _, b := range bulks {
		list = append(list,
			On("POST /nodes/{node}/"+b.node, Anyone, b.own+"max-workers int(1..64); vms vmid-list", b.onNode),
			On("POST /cluster/bulk-action/guest/"+b.verb, Anyone, b.whole+"max-workers int(1..64); maxworkers int(1..64); vms array", b.onCluster))
	}
	return list
}

// named are the guests that the call names.
func named(c *call) []int {
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
func (b bulk) may(c *call, ids []int) error {
	if c.May("/", b.privilege) {
		return nil
	}
	if len(ids) == 0 {
		return Denied("/, " + b.privilege)
	}
	for _, id := range ids {
		if err := c.Check("/vms/"+Itoa(id), b.privilege); err != nil {
			return err
		}
	}
	return nil
}

func (b bulk) onNode(c *call) (any, error) {
	ids := named(c)
	if err := b.may(c, ids); err != nil {
		return nil, err
	}
	if b.verb == "migrate" && c.State.Nodes[c.Text("target")] == nil {
		return nil, Fail("no such cluster node '%s'", c.Text("target"))
	}
	node := c.Node()
	autostart := b.verb == "start" && !c.Flag("force", false) && len(ids) == 0
	return c.Fork(node, b.node, "", func(t *task) error {
		b.all(t, c, func(g *guest) bool {
			return g.Node == node && (len(ids) == 0 || slices.Contains(ids, g.VMID)) && (!autostart || g.Conf["onboot"] == "1") && c.State.HARequest(g.VMID) == nil
		})
		return t.Busy()
	}), nil
}

func (b bulk) onCluster(c *call) (any, error) {
	ids := named(c)
	if len(ids) > 0 {
		for _, id := range ids {
			if err := c.Check("/vms/"+Itoa(id), b.privilege); err != nil {
				return nil, err
			}
		}
	} else if err := b.may(c, nil); err != nil {
		return nil, err
	}
	return c.Fork(c.State.Local, "bulk-"+b.verb, "", func(t *task) error {
		failed := b.all(t, c, func(g *guest) bool {
			return c.State.Nodes[g.Node].Online && (len(ids) == 0 || slices.Contains(ids, g.VMID))
		})
		if err := t.Busy(); err != nil {
			return err
		}
		if len(failed) > 0 {
			return Fail("Some guests failed to %s: %s", b.verb, strings.Join(failed, ", "))
		}
		return nil
	}), nil
}

// all does it to every guest that is meant, each in a task of its own, and returns those with which it went wrong at once.
func (b bulk) all(t *task, c *call, meant func(*guest) bool) (failed []string) {
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if g == nil || g.Template() || !meant(g) || (g.State == Stopped) != (b.verb == "start") && b.verb != "migrate" {
			continue
		}
		t.Say("%s %s %d", b.verb, map[string]string{"qemu": "VM", "lxc": "CT"}[g.Kind], vmid)
		upid := b.one(c, g)
		if one := c.State.TaskByID[upid]; one != nil && !one.Ended.IsZero() && one.Exit != "OK" {
			failed = append(failed, Itoa(vmid))
		}
	}
	return failed
}

// one starts the task for a guest and returns its UPID.
func (b bulk) one(c *call, g *guest) string {
	s, node, id := c.State, g.Node, Itoa(g.VMID)
	switch b.verb {
	case "start":
		return s.Fork(c, node, PrefixOf(g.Kind)+"start", id, func(t *task) error { return PowerOn(s, t, node, g.VMID, false) })
	case "migrate":
		to := c.Text("target")
		if to == node {
			return ""
		}
		return s.Fork(c, node, map[string]string{"qemu": "qmigrate", "lxc": "vzmigrate"}[g.Kind], id, func(t *task) error { return Migrate(s, t, node, to, g.VMID, c.Flag("with-local-disks", false)) })
	}
	return s.Fork(c, node, PrefixOf(g.Kind)+b.verb, id, func(t *task) error {
		if b.verb == "suspend" && g.Kind == "qemu" && !c.Flag("to-disk", false) {
			g.State = Paused
			return t.Busy()
		}
		if err := t.Busy(); err != nil {
			return err
		}
		PowerOff(s, t, g)
		return nil
	})
}
