package simulator

// state is what the node of the guest tells about a job.
func (r *replication) state(s *state) row {
	data := r.row()
	data["vmtype"], data["next_sync"] = s.kindOf(r.guest), s.nextSync(r)
	data["last_sync"], data["last_try"], data["fail_count"], data["duration"] = r.lastSync, r.lastTry, r.failed, 0.1
	if r.err != "" {
		data["error"] = r.err
	}
	return data
}

// replicationsOn are the jobs of guests that are on a node.
func (s *state) replicationsOn(node string) []*replication {
	var list []*replication
	for _, id := range sortedKeys(s.replications) {
		if r := s.replications[id]; s.guests[r.guest] != nil && s.guests[r.guest].node == node {
			list = append(list, r)
		}
	}
	return list
}

func (c *call) replicationOfNode() (any, error) {
	rows := []any{}
	for _, r := range c.s.replicationsOn(c.node()) {
		if (!c.has("guest") || c.number("guest", 0) == r.guest) && c.may("/vms/"+itoa(r.guest), "VM.Audit") {
			rows = append(rows, r.state(c.s))
		}
	}
	return rows, nil
}

func (c *call) replicationStatus() (any, error) {
	for _, r := range c.s.replicationsOn(c.node()) {
		if r.id == c.text("id") {
			return r.state(c.s), c.check("/vms/"+itoa(r.guest), "VM.Audit")
		}
	}
	return nil, fail("no such replication job '%s'", c.text("id"))
}

func (c *call) replicationLog() (any, error) {
	r := c.s.replications[c.text("id")]
	switch {
	case r == nil:
		return nil, fail("no such replication job '%s'", c.text("id"))
	case !c.may("/vms/"+itoa(r.guest), "VM.Audit") && !c.may("/nodes/"+c.node(), "Sys.Audit"):
		return nil, denied("")
	case len(r.lines) == 0:
		return c.logRows([]string{"unable to open file - No such file or directory"}), nil
	}
	return c.logRows(r.lines), nil
}

func (c *call) replicateNow() (any, error) {
	if _, err := c.replicated(); err != nil {
		return nil, err
	}
	r := c.s.replications[c.text("id")]
	if r == nil {
		return nil, fail("no such replication job '%s'", c.text("id"))
	}
	r.lastTry, r.failed = 0, 0
	c.s.replicateSoon()
	return nil, nil
}
