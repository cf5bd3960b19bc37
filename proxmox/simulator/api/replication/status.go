package replication

import "kubehenge.dev/proxmox/simulator/core"

// state is what the node of the guest tells about a job.
func state(r *core.Replication, s *core.State) core.Row {
	data := replicationRow(r)
	data["vmtype"], data["next_sync"] = s.KindOf(r.Guest), nextSync(s, r)
	data["last_sync"], data["last_try"], data["fail_count"], data["duration"] = r.LastSync, r.LastTry, r.Failed, 0.1
	if r.Err != "" {
		data["error"] = r.Err
	}
	return data
}

// replicationsOn are the jobs of guests that are on a node.
func replicationsOn(s *core.State, node string) []*core.Replication {
	var list []*core.Replication
	for _, id := range core.SortedKeys(s.Replications) {
		if r := s.Replications[id]; s.Guests[r.Guest] != nil && s.Guests[r.Guest].Node == node {
			list = append(list, r)
		}
	}
	return list
}

func replicationOfNode(c *core.Call) (any, error) {
	rows := []any{}
	for _, r := range replicationsOn(c.State, c.Node()) {
		if (!c.Has("guest") || c.Number("guest", 0) == r.Guest) && c.May("/vms/"+core.Itoa(r.Guest), "VM.Audit") {
			rows = append(rows, state(r, c.State))
		}
	}
	return rows, nil
}

func replicationStatus(c *core.Call) (any, error) {
	for _, r := range replicationsOn(c.State, c.Node()) {
		if r.ID == c.Text("id") {
			return state(r, c.State), c.Check("/vms/"+core.Itoa(r.Guest), "VM.Audit")
		}
	}
	return nil, core.Fail("no such replication job '%s'", c.Text("id"))
}

func replicationLog(c *core.Call) (any, error) {
	r := c.State.Replications[c.Text("id")]
	switch {
	case r == nil:
		return nil, core.Fail("no such replication job '%s'", c.Text("id"))
	case !c.May("/vms/"+core.Itoa(r.Guest), "VM.Audit") && !c.May("/nodes/"+c.Node(), "Sys.Audit"):
		return nil, core.Denied("")
	case len(r.Lines) == 0:
		return c.LogRows([]string{"unable to open file - No such file or directory"}), nil
	}
	return c.LogRows(r.Lines), nil
}

func replicateNow(c *core.Call) (any, error) {
	if _, err := replicated(c); err != nil {
		return nil, err
	}
	r := c.State.Replications[c.Text("id")]
	if r == nil {
		return nil, core.Fail("no such replication job '%s'", c.Text("id"))
	}
	r.LastTry, r.Failed = 0, 0
	replicateSoon(c.State)
	return nil, nil
}
