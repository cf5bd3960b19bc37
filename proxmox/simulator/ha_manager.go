package simulator

import (
	"slices"
	"strings"
	"time"
)

// haService is a resource as the HA manager runs it.
type haService struct {
	node  string
	state string // started, stopped, request_stop, migrate, fence, recovery, error
	tries int    // starts that failed in a row
}

// manageSoon lets the manager act at once where its cycle takes no time.
func (s *Server) manageSoon() {
	if s.profile.ManagerCycle > 0 {
		return
	}
	for range 4 { // stop and start need a cycle each; moves one more
		s.manage()
	}
}

// manage is one cycle of the HA manager: it compares what is asked for with what is, and acts.
func (s *Server) manage() {
	if !s.quorate() {
		return
	}
	for sid := range s.ha.services {
		if s.ha.resources[sid] == nil || s.guestOfSID(sid) == nil {
			delete(s.ha.services, sid)
		}
	}
	for _, sid := range sortedKeys(s.ha.resources) {
		r, g := s.ha.resources[sid], s.guestOfSID(sid)
		if r == nil || g == nil || r.state == "ignored" { // a guest may be asked in between, without the lock
			continue
		}
		sv := s.ha.services[sid]
		if sv == nil {
			sv = &haService{state: map[bool]string{true: "started", false: "stopped"}[r.state == "started"]}
			s.ha.services[sid] = sv
		}
		sv.node = g.node
		s.tend(r, g, sv)
	}
}

func (s *Server) tend(r *haResource, g *guest, sv *haService) {
	if n := s.nodes[g.node]; !n.online {
		s.fence(r, g, sv, s.now().Sub(n.down))
		return
	}
	if to, asked := s.ha.commands[r.sid]; asked {
		delete(s.ha.commands, r.sid)
		s.moveService(g, sv, to)
		return
	}
	switch {
	case sv.state == "error":
		if r.state == "disabled" {
			sv.state, sv.tries = "stopped", 0
		}
	case r.state == "started":
		sv.state = "started"
		s.keepRunning(r, g, sv)
	case sv.state == "started":
		sv.state = "request_stop"
	case g.state != stopped:
		s.fork(nil, g.node, "qmshutdown", itoa(g.vmid), func(t *task) error {
			if err := t.busy(); err != nil {
				return err
			}
			s.powerOff(t, g)
			return nil
		})
		if g.state == stopped {
			sv.state = "stopped"
		}
	default:
		sv.state = "stopped"
	}
}

// keepRunning starts a service that does not run; after too many failures it is in error.
func (s *Server) keepRunning(r *haResource, g *guest, sv *haService) {
	if g.state != stopped {
		sv.tries = 0
		return
	}
	if s.busyWith(g) {
		return
	}
	limit := int(atoi64(or(r.fields["max_restart"], "1")) + atoi64(or(r.fields["max_relocate"], "1")))
	if sv.tries > limit {
		sv.state = "error"
		return
	}
	sv.tries++
	s.fork(nil, g.node, "qmstart", itoa(g.vmid), func(t *task) error {
		t.say("task started by HA resource agent")
		return s.powerOn(t, g.node, g.vmid, false)
	})
}

// busyWith tells whether a task of the guest is running.
func (s *Server) busyWith(g *guest) bool {
	return slices.ContainsFunc(s.tasks, func(t *task) bool { return t.ended.IsZero() && t.id == itoa(g.vmid) })
}

// fence follows a node that is gone: after the delay it counts as fenced, after another its services are recovered
// elsewhere. Local disks do not move.
func (s *Server) fence(r *haResource, g *guest, sv *haService, gone time.Duration) {
	switch {
	case gone < s.profile.FenceDelay:
		return
	case gone < 2*s.profile.FenceDelay:
		sv.state = "fence"
		return
	}
	sv.state = "recovery"
	to := s.recoveryNode(r.sid)
	if to == "" {
		return
	}
	g.node, sv.node, g.state = to, to, stopped
	delete(g.conf, "lock")
	sv.state = map[bool]string{true: "started", false: "stopped"}[r.state == "started"]
	if r.state == "started" {
		s.keepRunning(r, g, sv)
	}
}

// recoveryNode is the node with the fewest services among those that the rules allow.
func (s *Server) recoveryNode(sid string) string {
	candidates := map[string]int{}
	for name, n := range s.nodes {
		if n.online {
			candidates[name] = 0
		}
	}
	for other, sv := range s.ha.services {
		if _, ok := candidates[sv.node]; ok && other != sid {
			candidates[sv.node]++
		}
	}
	for _, r := range s.ha.rules {
		if !r.disabled && slices.Contains(r.resources, sid) {
			s.narrow(candidates, r, sid)
		}
	}
	best := ""
	for _, name := range sortedKeys(candidates) {
		if best == "" || candidates[name] < candidates[best] {
			best = name
		}
	}
	return best
}

// narrow takes away the nodes that a rule excludes.
func (s *Server) narrow(candidates map[string]int, r *haRule, sid string) {
	if r.kind == nodeAffinity {
		allowed, highest := map[string]int{}, -1
		for n, p := range r.nodes {
			if _, on := candidates[n]; on && p > highest {
				highest = p
			}
		}
		for n, p := range r.nodes {
			if load, on := candidates[n]; on && p == highest {
				allowed[n] = load
			}
		}
		if len(allowed) == 0 && !r.strict {
			return
		}
		clear(candidates)
		for n, load := range allowed {
			candidates[n] = load
		}
		return
	}
	for _, other := range r.resources {
		sv := s.ha.services[other]
		if sv == nil || other == sid || !r.negative {
			continue
		}
		delete(candidates, sv.node)
	}
}

func (s *Server) moveService(g *guest, sv *haService, to string) {
	if n := s.nodes[to]; n == nil || !n.online || to == g.node {
		return
	}
	from := g.node
	s.fork(nil, from, "qmigrate", itoa(g.vmid), func(t *task) error { return s.migrate(t, from, to, g.vmid, true) })
	sv.node = g.node
}

func (s *Server) haState(g *guest) string {
	if sv := s.ha.services[haID(g)]; sv != nil {
		return sv.state
	}
	return ""
}

func (s *Server) haStatus(g *guest) row {
	if s.ha.resources[haID(g)] == nil {
		return row{"managed": 0}
	}
	r := row{"managed": 1}
	if st := s.haState(g); st != "" {
		r["state"] = st
	}
	return r
}

// haNodeState is a node as the HA manager sees it.
func (s *Server) haNodeState(name string) string {
	n := s.nodes[name]
	switch {
	case s.cluster == "":
		return ""
	case n.online:
		return "online"
	case s.now().Sub(n.down) < s.profile.FenceDelay:
		return "unknown"
	}
	return "fence"
}

// master is the node whose HA manager acts.
func (s *Server) master() string {
	for _, name := range s.nodeNames() {
		if s.nodes[name].online {
			return name
		}
	}
	return s.local
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
	for _, name := range s.nodeNames() {
		mode := "idle"
		for _, sv := range s.ha.services {
			if sv.node == name {
				mode = "active"
			}
		}
		rows = append(rows, row{"id": "lrm:" + name, "type": "lrm", "node": name, "status": name + " (" + mode + ", " + when + ")", "timestamp": s.unix()})
	}
	for _, sid := range sortedKeys(s.ha.services) {
		sv, r := s.ha.services[sid], s.ha.resources[sid]
		data := row{"id": "service:" + sid, "type": "service", "sid": sid, "node": sv.node, "crm_state": sv.state, "state": sv.state, "status": sid + " (" + sv.node + ", " + sv.state + ")"}
		if r != nil {
			data["request_state"] = r.state
			data["max_restart"], data["max_relocate"] = atoi64(or(r.fields["max_restart"], "1")), atoi64(or(r.fields["max_relocate"], "1"))
		}
		rows = append(rows, data)
	}
	return rows, nil
}

func (c *call) haManagerStatus() (any, error) {
	s := c.s
	nodes, services, lrm := row{}, row{}, row{}
	for _, name := range s.nodeNames() {
		nodes[name] = s.haNodeState(name)
		lrm[name] = row{"mode": "active", "state": "active", "timestamp": s.unix(), "results": row{}}
	}
	for sid, sv := range s.ha.services {
		services[sid] = row{"node": sv.node, "state": sv.state, "running": bit(sv.state == "started")}
	}
	return row{
		"manager_status": row{"master_node": s.master(), "node_status": nodes, "service_status": services, "timestamp": s.unix()},
		"lrm_status":     lrm,
		"quorum":         row{"node": s.local, "quorate": bit(s.quorate())},
	}, nil
}

// loadHA makes the resources and rules of an inventory.
func (s *Server) loadHA(inv *Inventory) error {
	for _, spec := range inv.HA.Resources {
		if s.guestOfSID(spec.ID) == nil {
			return fail("resource %q is no guest", spec.ID)
		}
		s.ha.resources[spec.ID] = &haResource{sid: spec.ID, state: or(spec.State, "started"), fields: copyMap(spec.Options)}
	}
	for _, spec := range inv.HA.Rules {
		r := &haRule{id: spec.ID, kind: spec.Type, resources: spec.Resources, strict: spec.Strict, negative: spec.Affinity == "negative", disabled: spec.Disabled, off: spec.Disabled, comment: spec.Comment}
		if r.kind == nodeAffinity {
			r.nodes = nodePriorities(strings.Split(spec.Nodes, ","))
		}
		s.ha.rules = append(s.ha.rules, r)
	}
	return nil
}

func (s *Server) saveHA(inv *Inventory) {
	for _, sid := range sortedKeys(s.ha.resources) {
		r := s.ha.resources[sid]
		inv.HA.Resources = append(inv.HA.Resources, HAResourceSpec{ID: sid, State: r.state, Options: copyMap(r.fields)})
	}
	for _, r := range s.ha.rules {
		spec := HARuleSpec{ID: r.id, Type: r.kind, Resources: r.resources, Strict: r.strict, Disabled: r.disabled, Comment: r.comment}
		if r.kind == nodeAffinity {
			spec.Nodes = r.nodeText()
		} else {
			spec.Affinity = map[bool]string{true: "negative", false: "positive"}[r.negative]
		}
		inv.HA.Rules = append(inv.HA.Rules, spec)
	}
}
