package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/firewall"
	"kubehenge.dev/proxmox/simulator/schema"
)

const replicationFields = "comment string(..4096); disable bool; rate num(1..); remove_job enum(local full); schedule calendar-event(..128); source node"

var replicationTypes = schema.Must(replicationFields)

// replicationEndpoints are jobs that replicate guests. Source: pve-manager PVE/API2/{ReplicationConfig,Replication}.pm.
func replicationEndpoints() []*endpoint {
	const job, at = "/cluster/replication/{id}", "/nodes/{node}/replication"
	const id = "id* replication-id;"
	return []*endpoint{
		on("GET /cluster/replication", anyone, "", (*call).listReplication),
		on("POST /cluster/replication", anyone, id+"target* node; type* enum(local);"+replicationFields, (*call).createReplication),
		on("GET "+job, anyone, id, (*call).readReplication),
		on("PUT "+job, anyone, id+"delete configid-list(..4096); digest string(..64);"+replicationFields, (*call).updateReplication),
		on("DELETE "+job, anyone, id+"force bool; keep bool", (*call).deleteReplication),
		on("GET "+at, anyone, "guest vmid", (*call).replicationOfNode),
		on("GET "+at+"/{id}", anyone, id, index("schedule_now log status"), anywhere),
		on("GET "+at+"/{id}/status", anyone, id, (*call).replicationStatus),
		on("GET "+at+"/{id}/log", anyone, id+"start int(0..); limit int(0..)", (*call).replicationLog),
		on("POST "+at+"/{id}/schedule_now", anyone, id, (*call).replicateNow),
	}
}

func (r *replication) row() row {
	data := row{"id": r.id, "type": "local", "guest": r.guest, "jobnum": integer(r.id[strings.LastIndexByte(r.id, '-')+1:])}
	for k, v := range r.fields {
		data[k] = v
		if p := replicationTypes.Lookup(k); p != nil && p.Kind == schema.Boolean {
			data[k] = integer(v)
		}
	}
	return data
}

func (s *state) replicationDigest() string {
	var rows []map[string]string
	for _, id := range sortedKeys(s.replications) {
		f := copyMap(s.replications[id].fields)
		f["id"] = id
		rows = append(rows, f)
	}
	return firewall.ListDigest(rows)
}

func (c *call) listReplication() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.replications) {
		if r := c.s.replications[id]; c.may("/vms/"+itoa(r.guest), "VM.Audit") {
			rows = append(rows, r.row())
		}
	}
	return rows, nil
}

func (c *call) readReplication() (any, error) {
	r := c.s.replications[c.text("id")]
	if r == nil {
		return nil, fail("no such replication job '%s'", c.text("id"))
	}
	if err := c.check("/vms/"+itoa(r.guest), "VM.Audit"); err != nil {
		return nil, err
	}
	data := r.row()
	data["digest"] = c.s.replicationDigest()
	return data, nil
}

// replicated is the guest that the job's name is about, and whether the caller may replicate it.
func (c *call) replicated() (int, error) {
	vmid, _, _ := strings.Cut(c.text("id"), "-")
	n := int(atoi64(vmid))
	return n, c.check("/vms/"+vmid, "VM.Replicate")
}

func (c *call) createReplication() (any, error) {
	vmid, err := c.replicated()
	if err != nil {
		return nil, err
	}
	g, target, id := c.s.guests[vmid], c.text("target"), c.text("id")
	switch {
	case g == nil:
		return nil, fail("Guest '%d' does not exist.", vmid)
	case c.s.nodes[target] == nil:
		return nil, fail("Target '%s' does not exist.", target)
	case c.has("source") && c.text("source") != g.node:
		return nil, fail("Source '%s' does not match current node of guest '%d' (%s)", c.text("source"), vmid, g.node)
	case target == g.node:
		return nil, fail("Source and target must not be identical")
	}
	volumes, err := c.s.replicatable(g)
	switch {
	case err != nil:
		return nil, err
	case len(volumes) == 0:
		return nil, fail("No replicatable volumes found")
	case c.s.replications[id] != nil:
		return nil, fail("replication job '%s' already exists", id)
	}
	r := &replication{id: id, guest: vmid, fields: map[string]string{"target": target, "source": g.node}}
	c.setReplication(r)
	c.s.replications[id] = r
	c.s.replicateSoon()
	return nil, nil
}

func (c *call) setReplication(r *replication) {
	for _, k := range replicationTypes.Names() {
		if c.has(k) {
			r.fields[k] = c.text(k)
		}
	}
}

func (c *call) updateReplication() (any, error) {
	if _, err := c.replicated(); err != nil {
		return nil, err
	}
	if err := unmodified(c.s.replicationDigest(), c.text("digest")); err != nil {
		return nil, err
	}
	r := c.s.replications[c.text("id")]
	if r == nil {
		return nil, fail("no such job '%s'", c.text("id"))
	}
	for _, k := range c.list("delete") {
		switch {
		case k == "target":
			return nil, fail("unable to delete required option '%s'", k)
		case replicationTypes.Lookup(k) == nil:
			return nil, fail("no such option '%s'", k)
		}
	}
	c.setReplication(r)
	for _, k := range c.list("delete") {
		delete(r.fields, k)
	}
	c.s.replicateSoon()
	return nil, nil
}

// deleteReplication marks a job: its removal, and that of the copies, comes with its next turn.
func (c *call) deleteReplication() (any, error) {
	if _, err := c.replicated(); err != nil {
		return nil, err
	}
	id := c.text("id")
	if c.flag("force", false) {
		if c.flag("keep", false) {
			return nil, invalid("keep", "conflicts with parameter 'force'")
		}
		delete(c.s.replications, id)
		return nil, nil
	}
	r := c.s.replications[id]
	if r == nil {
		return nil, fail("no such job '%s'", id)
	}
	r.fields["remove_job"] = "full"
	if c.flag("keep", false) {
		r.fields["remove_job"] = "local"
	}
	c.s.replicateSoon()
	return nil, nil
}
