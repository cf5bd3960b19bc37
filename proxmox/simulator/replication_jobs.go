package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
)

const replicationFields = "comment string(..4096); disable bool; rate num(1..); remove_job enum(local full); schedule calendar-event(..128); source node"

var replicationTypes = schema.Must(replicationFields)

// replicationEndpoints are jobs that replicate guests. Source: pve-manager PVE/API2/{ReplicationConfig,Replication}.pm.
func replicationEndpoints() []*Endpoint {
	const job, at = "/cluster/replication/{id}", "/nodes/{node}/replication"
	const id = "id* replication-id;"
	return []*Endpoint{
		On("GET /cluster/replication", Anyone, "", listReplication),
		On("POST /cluster/replication", Anyone, id+"target* node; type* enum(local);"+replicationFields, createReplication),
		On("GET "+job, Anyone, id, readReplication),
		On("PUT "+job, Anyone, id+"delete configid-list(..4096); digest string(..64);"+replicationFields, updateReplication),
		On("DELETE "+job, Anyone, id+"force bool; keep bool", deleteReplication),
		On("GET "+at, Anyone, "guest vmid", replicationOfNode),
		On("GET "+at+"/{id}", Anyone, id, Index("schedule_now log status"), Anywhere),
		On("GET "+at+"/{id}/status", Anyone, id, replicationStatus),
		On("GET "+at+"/{id}/log", Anyone, id+"start int(0..); limit int(0..)", replicationLog),
		On("POST "+at+"/{id}/schedule_now", Anyone, id, replicateNow),
	}
}

func replicationRow(r *Replication) Row {
	data := Row{"id": r.ID, "type": "local", "guest": r.Guest, "jobnum": Integer(r.ID[strings.LastIndexByte(r.ID, '-')+1:])}
	for k, v := range r.Fields {
		data[k] = v
		if p := replicationTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			data[k] = Integer(v)
		}
	}
	return data
}

func replicationDigest(s *State) string {
	var rows []map[string]string
	for _, id := range SortedKeys(s.Replications) {
		f := CopyMap(s.Replications[id].Fields)
		f["id"] = id
		rows = append(rows, f)
	}
	return firewall.ListDigest(rows)
}

func listReplication(c *call) (any, error) {
	rows := []any{}
	for _, id := range SortedKeys(c.State.Replications) {
		if r := c.State.Replications[id]; c.May("/vms/"+Itoa(r.Guest), "VM.Audit") {
			rows = append(rows, replicationRow(r))
		}
	}
	return rows, nil
}

func readReplication(c *call) (any, error) {
	r := c.State.Replications[c.Text("id")]
	if r == nil {
		return nil, Fail("no such replication job '%s'", c.Text("id"))
	}
	if err := c.Check("/vms/"+Itoa(r.Guest), "VM.Audit"); err != nil {
		return nil, err
	}
	data := replicationRow(r)
	data["digest"] = replicationDigest(c.State)
	return data, nil
}

// replicated is the guest that the job's name is about, and whether the caller may replicate it.
func replicated(c *call) (int, error) {
	vmid, _, _ := strings.Cut(c.Text("id"), "-")
	n := int(Atoi64(vmid))
	return n, c.Check("/vms/"+vmid, "VM.Replicate")
}

func createReplication(c *call) (any, error) {
	vmid, err := replicated(c)
	if err != nil {
		return nil, err
	}
	g, target, id := c.State.Guests[vmid], c.Text("target"), c.Text("id")
	switch {
	case g == nil:
		return nil, Fail("Guest '%d' does not exist.", vmid)
	case c.State.Nodes[target] == nil:
		return nil, Fail("Target '%s' does not exist.", target)
	case c.Has("source") && c.Text("source") != g.Node:
		return nil, Fail("Source '%s' does not match current node of guest '%d' (%s)", c.Text("source"), vmid, g.Node)
	case target == g.Node:
		return nil, Fail("Source and target must not be identical")
	}
	volumes, err := replicatable(c.State, g)
	switch {
	case err != nil:
		return nil, err
	case len(volumes) == 0:
		return nil, Fail("No replicatable volumes found")
	case c.State.Replications[id] != nil:
		return nil, Fail("replication job '%s' already exists", id)
	}
	r := &Replication{ID: id, Guest: vmid, Fields: map[string]string{"target": target, "source": g.Node}}
	setReplication(c, r)
	c.State.Replications[id] = r
	replicateSoon(c.State)
	return nil, nil
}

func setReplication(c *call, r *Replication) {
	for _, k := range replicationTypes.Names() {
		if c.Has(k) {
			r.Fields[k] = c.Text(k)
		}
	}
}

func updateReplication(c *call) (any, error) {
	if _, err := replicated(c); err != nil {
		return nil, err
	}
	if err := Unmodified(replicationDigest(c.State), c.Text("digest")); err != nil {
		return nil, err
	}
	r := c.State.Replications[c.Text("id")]
	if r == nil {
		return nil, Fail("no such job '%s'", c.Text("id"))
	}
	for _, k := range c.List("delete") {
		switch {
		case k == "target":
			return nil, Fail("unable to delete required option '%s'", k)
		case replicationTypes.Lookup(k) == nil:
			return nil, Fail("no such option '%s'", k)
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
func deleteReplication(c *call) (any, error) {
	if _, err := replicated(c); err != nil {
		return nil, err
	}
	id := c.Text("id")
	if c.Flag("force", false) {
		if c.Flag("keep", false) {
			return nil, Invalid("keep", "conflicts with parameter 'force'")
		}
		delete(c.State.Replications, id)
		return nil, nil
	}
	r := c.State.Replications[id]
	if r == nil {
		return nil, Fail("no such job '%s'", id)
	}
	r.Fields["remove_job"] = "full"
	if c.Flag("keep", false) {
		r.Fields["remove_job"] = "local"
	}
	replicateSoon(c.State)
	return nil, nil
}
