package ha

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/ha"
)

// master is the node whose HA manager acts.
func master(s *core.State) string {
	for _, name := range s.NodeNames() {
		if s.Nodes[name].Online {
			return name
		}
	}
	return s.Local
}

// agentState is what the HA agent of a node does.
func agentState(s *core.State, name string) string {
	if s.HA.Resting[name] {
		return "maintenance mode"
	}
	for _, sv := range s.HA.Services {
		if sv.Node == name {
			return "active"
		}
	}
	return "idle"
}

func haCurrent(c *core.Call) (any, error) {
	s := c.State
	when := s.Now().UTC().Format("Mon Jan _2 15:04:05 2006")
	quorum := "OK"
	if !s.Quorate() {
		quorum = "No quorum on node '" + s.Local + "'!"
	}
	rows := []any{core.Row{"id": "quorum", "type": "quorum", "node": s.Local, "status": quorum, "quorate": core.Bit(s.Quorate())}}
	if len(s.HA.Services) > 0 {
		rows = append(rows, core.Row{"id": "master", "type": "master", "node": master(s), "status": master(s) + " (active, " + when + ")", "timestamp": s.Unix()})
		rows = append(rows, core.Row{"id": "fencing", "type": "fencing", "node": s.Local, "status": "armed"})
	}
	for _, name := range haNodes(s) {
		rows = append(rows, core.Row{"id": "lrm:" + name, "type": "lrm", "node": name, "status": name + " (" + agentState(s, name) + ", " + when + ")", "timestamp": s.Unix()})
	}
	for _, sid := range core.SortedKeys(s.HA.Resources) {
		rows = append(rows, resourceRow(s, sid))
	}
	return rows, nil
}

func resourceRow(s *core.State, sid string) core.Row {
	r, sv, g := s.HA.Resources[sid], s.HA.Services[sid], s.GuestOfSID(sid)
	data := core.Row{"id": "service:" + sid, "type": "service", "sid": sid, "request_state": r.State}
	node := "---"
	if g != nil {
		node = g.Node
	}
	if sv != nil {
		node, data["crm_state"] = sv.Node, sv.State
	}
	data["node"], data["state"] = node, verboseState(r, sv, g)
	data["status"] = sid + " (" + node + ", " + data["state"].(string) + ")"
	data["max_restart"], data["max_relocate"] = core.Atoi64(core.Or(r.Fields["max_restart"], "1")), core.Atoi64(core.Or(r.Fields["max_relocate"], "1"))
	for _, k := range []string{"group", "comment"} {
		if r.Fields[k] != "" {
			data[k] = r.Fields[k]
		}
	}
	if r.Fields["failback"] != "" {
		data["failback"] = core.Atoi64(r.Fields["failback"])
	}
	return data
}

// verboseState tells an administrator more than the manager's own state does.
func verboseState(r *core.HAResource, sv *ha.Service, g *core.Guest) string {
	switch {
	case r.State == "ignored":
		return "ignored"
	case g == nil:
		return "not found"
	case sv == nil:
		return "queued"
	case sv.State == ha.Stopped && r.State == "started":
		return "starting"
	case sv.State == ha.Stopped && r.State == "disabled":
		return "disabled"
	case sv.State == ha.Started && !sv.Running:
		return "starting"
	case sv.State == ha.Started && r.State != "started":
		return "stopping"
	case sv.State == ha.Error && r.State == "disabled":
		return "clearing error flag"
	}
	return sv.State
}

func haManagerStatus(c *core.Call) (any, error) {
	s := c.State
	data := core.Row{"manager_status": core.Row{}, "quorum": core.Row{"node": s.Local, "quorate": core.Bit(s.Quorate())}}
	if !s.HA.Ran {
		return data, nil
	}
	nodes, services, lrm := core.Row{}, core.Row{}, core.Row{}
	for _, name := range haNodes(s) {
		nodes[name] = s.HANodeState(name)
		mode := map[bool]string{true: "maintenance", false: "active"}[s.HA.Resting[name]]
		lrm[name] = core.Row{"mode": mode, "state": "active", "timestamp": s.Unix(), "results": core.Row{}}
	}
	for sid, sv := range s.HA.Services {
		r := core.Row{"node": sv.Node, "state": sv.State, "running": core.Bit(sv.State == ha.Started)}
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
	data["manager_status"] = core.Row{"master_node": master(s), "node_status": nodes, "service_status": services, "timestamp": s.Unix()}
	data["lrm_status"] = lrm
	return data, nil
}
