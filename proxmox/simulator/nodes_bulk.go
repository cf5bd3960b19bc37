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
func bulkEndpoints() []*endpoint {
	list := []*endpoint{
		on("GET /cluster/bulk-action", anyone, "", index("guest")),
		on("GET /cluster/bulk-action/guest", anyone, "", index("start shutdown migrate suspend")),
	}
	for _, b := range bulks {
		list = append(list,
			on("POST /nodes/{node}/"+b.node, anyone, b.own+"max-workers int(1..64); vms vmid-list", b.onNode),
			on("POST /cluster/bulk-action/guest/"+b.verb, anyone, b.whole+"max-workers int(1..64); maxworkers int(1..64); vms array", b.onCluster))
	}
	return list
}

// named are the guests that the call names.
func (c *call) named() []int {
	var ids []int
	list := c.list("vms")
	if several, is := c.params["vms"].([]any); is {
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
	if c.may("/", b.privilege) {
		return nil
	}
	if len(ids) == 0 {
		return denied("/, " + b.privilege)
	}
	for _, id := range ids {
		if err := c.check("/vms/"+itoa(id), b.privilege); err != nil {
			return err
		}
	}
	return nil
}

func (b bulk) onNode(c *call) (any, error) {
	ids := c.named()
	if err := b.may(c, ids); err != nil {
		return nil, err
	}
	if b.verb == "migrate" && c.s.nodes[c.text("target")] == nil {
		return nil, fail("no such cluster node '%s'", c.text("target"))
	}
	node := c.node()
	autostart := b.verb == "start" && !c.flag("force", false) && len(ids) == 0
	return c.fork(node, b.node, "", func(t *task) error {
		b.all(t, c, func(g *guest) bool {
			return g.node == node && (len(ids) == 0 || slices.Contains(ids, g.vmid)) && (!autostart || g.conf["onboot"] == "1") && c.s.haRequest(g.vmid) == nil
		})
		return t.busy()
	}), nil
}

func (b bulk) onCluster(c *call) (any, error) {
	ids := c.named()
	if len(ids) > 0 {
		for _, id := range ids {
			if err := c.check("/vms/"+itoa(id), b.privilege); err != nil {
				return nil, err
			}
		}
	} else if err := b.may(c, nil); err != nil {
		return nil, err
	}
	return c.fork(c.s.local, "bulk-"+b.verb, "", func(t *task) error {
		failed := b.all(t, c, func(g *guest) bool {
			return c.s.nodes[g.node].online && (len(ids) == 0 || slices.Contains(ids, g.vmid))
		})
		if err := t.busy(); err != nil {
			return err
		}
		if len(failed) > 0 {
			return fail("Some guests failed to %s: %s", b.verb, strings.Join(failed, ", "))
		}
		return nil
	}), nil
}

// all does it to every guest that is meant, each in a task of its own, and returns those with which it went wrong at once.
func (b bulk) all(t *task, c *call, meant func(*guest) bool) (failed []string) {
	for _, vmid := range c.s.vmids() {
		g := c.s.guests[vmid]
		if g == nil || g.template() || !meant(g) || (g.state == stopped) != (b.verb == "start") && b.verb != "migrate" {
			continue
		}
		t.say("%s %s %d", b.verb, map[string]string{"qemu": "VM", "lxc": "CT"}[g.kind], vmid)
		upid := b.one(c, g)
		if one := c.s.taskByID[upid]; one != nil && !one.ended.IsZero() && one.exit != "OK" {
			failed = append(failed, itoa(vmid))
		}
	}
	return failed
}

// one starts the task for a guest and returns its UPID.
func (b bulk) one(c *call, g *guest) string {
	s, node, id := c.s, g.node, itoa(g.vmid)
	switch b.verb {
	case "start":
		return s.fork(c, node, prefixOf(g.kind)+"start", id, func(t *task) error { return s.powerOn(t, node, g.vmid, false) })
	case "migrate":
		to := c.text("target")
		if to == node {
			return ""
		}
		return s.fork(c, node, map[string]string{"qemu": "qmigrate", "lxc": "vzmigrate"}[g.kind], id, func(t *task) error { return s.migrate(t, node, to, g.vmid, c.flag("with-local-disks", false)) })
	}
	return s.fork(c, node, prefixOf(g.kind)+b.verb, id, func(t *task) error {
		if b.verb == "suspend" && g.kind == "qemu" && !c.flag("to-disk", false) {
			g.state = paused
			return t.busy()
		}
		if err := t.busy(); err != nil {
			return err
		}
		s.powerOff(t, g)
		return nil
	})
}
