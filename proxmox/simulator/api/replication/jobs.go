// Package replication answers for jobs that copy local disks to other nodes, and runs them when they are due.
package replication

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
)

const replicationFields = "comment string(..4096); disable bool; rate num(1..); remove_job enum(local full); schedule calendar-event(..128); source node"

var replicationTypes = schema.Must(replicationFields)

// Endpoints are jobs that replicate guests. Source: pve-manager PVE/API2/{ReplicationConfig,Replication}.pm.
func Endpoints() []*core.Endpoint {
	const job, at = "/cluster/replication/{id}", "/nodes/{node}/replication"
	const id = "id* replication-id;"
	return []*core.Endpoint{
		core.On("GET /cluster/replication", core.Anyone, "", listReplication),
		core.On("POST /cluster/replication", core.Anyone, id+"target* node; type* enum(local);"+replicationFields, createReplication),
		core.On("GET "+job, core.Anyone, id, readReplication),
		core.On("PUT "+job, core.Anyone, id+"delete configid-list(..4096); digest string(..64);"+replicationFields, updateReplication),
		core.On("DELETE "+job, core.Anyone, id+"force bool; keep bool", deleteReplication),
		core.On("GET "+at, core.Anyone, "guest vmid", replicationOfNode),
		core.On("GET "+at+"/{id}", core.Anyone, id, core.Index("schedule_now log status"), core.Anywhere),
		core.On("GET "+at+"/{id}/status", core.Anyone, id, replicationStatus),
		core.On("GET "+at+"/{id}/log", core.Anyone, id+"start int(0..); limit int(0..)", replicationLog),
		core.On("POST "+at+"/{id}/schedule_now", core.Anyone, id, replicateNow),
	}
}

func replicationRow(r *core.Replication) core.Row {
	data := core.Row{"id": r.ID, "type": "local", "guest": r.Guest, "jobnum": core.Integer(r.ID[strings.LastIndexByte(r.ID, '-')+1:])}
	for k, v := range r.Fields {
		data[k] = v
		if p := replicationTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			data[k] = core.Integer(v)
		}
	}
	return data
}

func replicationDigest(s *core.State) string {
	var rows []map[string]string
	for _, id := range core.SortedKeys(s.Replications) {
		f := core.CopyMap(s.Replications[id].Fields)
		f["id"] = id
		rows = append(rows, f)
	}
	return firewall.ListDigest(rows)
}

func listReplication(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.Replications) {
		if r := c.State.Replications[id]; c.May("/vms/"+core.Itoa(r.Guest), "VM.Audit") {
			rows = append(rows, replicationRow(r))
		}
	}
	return rows, nil
}

func readReplication(c *core.Call) (any, error) {
	r := c.State.Replications[c.Text("id")]
	if r == nil {
		return nil, core.Fail("no such replication job '%s'", c.Text("id"))
	}
	if err := c.Check("/vms/"+core.Itoa(r.Guest), "VM.Audit"); err != nil {
		return nil, err
	}
	data := replicationRow(r)
	data["digest"] = replicationDigest(c.State)
	return data, nil
}

// replicated is the guest that the job's name is about, and whether the caller may replicate it.
func replicated(c *core.Call) (int, error) {
	vmid, _, _ := strings.Cut(c.Text("id"), "-")
	n := int(core.Atoi64(vmid))
	return n, c.Check("/vms/"+vmid, "VM.Replicate")
}

func createReplication(c *core.Call) (any, error) {
	vmid, err := replicated(c)
	if err != nil {
		return nil, err
	}
	g, target, id := c.State.Guests[vmid], c.Text("target"), c.Text("id")
	switch {
	case g == nil:
		return nil, core.Fail("Guest '%d' does not exist.", vmid)
	case c.State.Nodes[target] == nil:
		return nil, core.Fail("Target '%s' does not exist.", target)
	case c.Has("source") && c.Text("source") != g.Node:
		return nil, core.Fail("Source '%s' does not match current node of guest '%d' (%s)", c.Text("source"), vmid, g.Node)
	case target == g.Node:
		return nil, core.Fail("Source and target must not be identical")
	}
	volumes, err := replicatable(c.State, g)
	switch {
	case err != nil:
		return nil, err
	case len(volumes) == 0:
		return nil, core.Fail("No replicatable volumes found")
	case c.State.Replications[id] != nil:
		return nil, core.Fail("replication job '%s' already exists", id)
	}
	r := &core.Replication{ID: id, Guest: vmid, Fields: map[string]string{"target": target, "source": g.Node}}
	setReplication(c, r)
	c.State.Replications[id] = r
	replicateSoon(c.State)
	return nil, nil
}

func setReplication(c *core.Call, r *core.Replication) {
	for _, k := range replicationTypes.Names() {
		if c.Has(k) {
			r.Fields[k] = c.Text(k)
		}
	}
}

func updateReplication(c *core.Call) (any, error) {
	if _, err := replicated(c); err != nil {
		return nil, err
	}
	if err := core.Unmodified(replicationDigest(c.State), c.Text("digest")); err != nil {
		return nil, err
	}
	r := c.State.Replications[c.Text("id")]
	if r == nil {
		return nil, core.Fail("no such job '%s'", c.Text("id"))
	}
	for _, k := range c.List("delete") {
		switch {
		case k == "target":
			return nil, core.Fail("unable to delete required option '%s'", k)
		case replicationTypes.Lookup(k) == nil:
			return nil, core.Fail("no such option '%s'", k)
		}
	}
	setReplication(c, r)
	for _, k := range c.List("delete") {
		delete(r.Fields, k)
	}
	replicateSoon(c.State)
	return nil, nil
}

// deleteReplication marks a job: its removal, and that of the copies, comes with its next turn.
func deleteReplication(c *core.Call) (any, error) {
	if _, err := replicated(c); err != nil {
		return nil, err
	}
	id := c.Text("id")
	if c.Flag("force", false) {
		if c.Flag("keep", false) {
			return nil, core.Invalid("keep", "conflicts with parameter 'force'")
		}
		delete(c.State.Replications, id)
		return nil, nil
	}
	r := c.State.Replications[id]
	if r == nil {
		return nil, core.Fail("no such job '%s'", id)
	}
	r.Fields["remove_job"] = "full"
	if c.Flag("keep", false) {
		r.Fields["remove_job"] = "local"
	}
	replicateSoon(c.State)
	return nil, nil
}
