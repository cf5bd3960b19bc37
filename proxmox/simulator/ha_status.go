package simulator

import "kubehenge.dev/proxmox/simulator/ha"

// master is the node whose HA manager acts.
func (s *state) master() string {
	for _, name := range s.nodeNames() {
		if s.nodes[name].online {
			return name
		}
	}
	return s.local
}

// agentState is what the HA agent of a node does.
func (s *state) agentState(name string) string {
	if s.ha.resting[name] {
		return "maintenance mode"
	}
	for _, sv := range s.ha.services {
		if sv.Node == name {
			return "active"
		}
	}
	return "idle"
}

func (c *call) haCurrent() (any, error) {
	s := c.s
	when := s.now().UTC().Format("Mon Jan _2 15:04:05 2006")
	quorum := "OK"
	if !s.quorate() {
		quorum = "No quorum on node '" + s.local + "'!"
	}
	rows := []any{row{"id": "quorum", "type": "quorum", "node": s.local, "status": quorum, "quorate": bit(s.quorate())}}
	if len(s.ha.services) > 0 {
		rows = append(rows, row{"id": "master", "type": "master", "node": s.master(), "status": s.master() + " (active, " + when + ")", "timestamp": s.unix()})
		rows = append(rows, row{"id": "fencing", "type": "fencing", "node": s.local, "status": "armed"})
	}
	for _, name := range s.haNodes() {
		rows = append(rows, row{"id": "lrm:" + name, "type": "lrm", "node": name, "status": name + " (" + s.agentState(name) + ", " + when + ")", "timestamp": s.unix()})
	}
	for _, sid := range sortedKeys(s.ha.resources) {
		rows = append(rows, s.serviceRow(sid))
	}
	return rows, nil
}

func (s *state) serviceRow(sid string) row {
	r, sv, g := s.ha.resources[sid], s.ha.services[sid], s.guestOfSID(sid)
	data := row{"id": "service:" + sid, "type": "service", "sid": sid, "request_state": r.state}
	node := "---"
	if g != nil {
		node = g.node
	}
	if sv != nil {
		node, data["crm_state"] = sv.Node, sv.State
	}
	data["node"], data["state"] = node, verboseState(r, sv, g)
	data["status"] = sid + " (" + node + ", " + data["state"].(string) + ")"
	data["max_restart"], data["max_relocate"] = atoi64(or(r.fields["max_restart"], "1")), atoi64(or(r.fields["max_relocate"], "1"))
	for _, k := range []string{"group", "comment"} {
		if r.fields[k] != "" {
			data[k] = r.fields[k]
		}
	}
	if r.fields["failback"] != "" {
		data["failback"] = atoi64(r.fields["failback"])
	}
	return data
}

// verboseState tells an administrator more than the manager's own state does.
func verboseState(r *haResource, sv *ha.Service, g *guest) string {
	switch {
	case r.state == "ignored":
		return "ignored"
	case g == nil:
		return "not found"
	case sv == nil:
		return "queued"
	case sv.State == ha.Stopped && r.state == "started":
		return "starting"
	case sv.State == ha.Stopped && r.state == "disabled":
		return "disabled"
	case sv.State == ha.Started && !sv.Running:
		return "starting"
	case sv.State == ha.Started && r.state != "started":
		return "stopping"
	case sv.State == ha.Error && r.state == "disabled":
		return "clearing error flag"
	}
	return sv.State
}

func (c *call) haManagerStatus() (any, error) {
	s := c.s
	data := row{"manager_status": row{}, "quorum": row{"node": s.local, "quorate": bit(s.quorate())}}
	if !s.ha.ran {
		return data, nil
	}
	nodes, services, lrm := row{}, row{}, row{}
	for _, name := range s.haNodes() {
		nodes[name] = s.haNodeState(name)
		mode := map[bool]string{true: "maintenance", false: "active"}[s.ha.resting[name]]
		lrm[name] = row{"mode": mode, "state": "active", "timestamp": s.unix(), "results": row{}}
	}
	for sid, sv := range s.ha.services {
		r := row{"node": sv.Node, "state": sv.State, "running": bit(sv.State == ha.Started)}
		for k, v := range map[string]string{"target": sv.Target, "maintenance_node": sv.Return} {
			if v != "" {
				r[k] = v
			}
		}
		if len(sv.Failed) > 0 {
			r["failed_nodes"] = sv.Failed
		}
		services[sid] = r
	}
	data["manager_status"] = row{"master_node": s.master(), "node_status": nodes, "service_status": services, "timestamp": s.unix()}
	data["lrm_status"] = lrm
	return data, nil
}
