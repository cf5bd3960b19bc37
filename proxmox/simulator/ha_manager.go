package simulator

import (
	"maps"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/ha"
)

// manager is one cycle of the HA manager: it compares what is asked for with what is, and acts.
// Source: pve-ha-manager src/PVE/HA/Manager.pm.
type manager struct {
	s        *state
	affinity *ha.Affinity
	online   []string // nodes that take services
}

// haNodes are the nodes that the manager knows: none before it ran for the first time.
func (s *state) haNodes() []string {
	if !s.ha.ran {
		return nil
	}
	return s.nodeNames()
}

// affinity is what the rules, or the groups of 8.4, mean.
func (s *state) affinity() *ha.Affinity {
	rules := s.ha.rules
	if s.version == access.V8 {
		rules = s.groupRules()
	}
	return ha.Compile(rules, s.haNodes())
}

// manageHA is one cycle of the manager.
func manageHA(s *state) {
	if !s.quorate() {
		return
	}
	s.ha.ran = s.ha.ran || len(s.ha.resources) > 0
	m := &manager{s: s, affinity: s.affinity()}
	for _, n := range s.nodeNames() {
		if s.haNodeState(n) == "online" {
			m.online = append(m.online, n)
		}
	}
	m.adopt()
	m.readCommands()
	for _, sid := range sortedKeys(s.ha.services) {
		r, g, sv := s.ha.resources[sid], s.guestOfSID(sid), s.ha.services[sid]
		if r == nil || g == nil || sv == nil { // a guest may be asked in between, without the lock
			continue
		}
		m.tend(r, g, sv)
	}
}

// adopt takes new resources on and forgets those that are no longer there, or to be ignored.
func (m *manager) adopt() {
	s := m.s
	maps.DeleteFunc(s.ha.services, func(sid string, _ *ha.Service) bool {
		r := s.ha.resources[sid]
		return r == nil || r.state == "ignored" || s.guestOfSID(sid) == nil
	})
	for sid, r := range s.ha.resources {
		g := s.guestOfSID(sid)
		if s.ha.services[sid] != nil || g == nil || r.state == "ignored" {
			continue
		}
		s.ha.services[sid] = &ha.Service{Node: g.node, State: map[bool]string{true: ha.Started, false: ha.Stopped}[r.state == "started"]}
	}
}

// readCommands gives commands to their services, and to those that are to be with them. A command that would bring two
// together that are to be apart is dropped.
func (m *manager) readCommands() {
	s := m.s
	commands := s.ha.commands
	s.ha.commands = nil
	for _, c := range commands {
		sv := s.ha.services[c.sid]
		if sv == nil || !slices.Contains(m.online, c.node) || sv.Node == c.node {
			continue
		}
		if blocking := m.affinity.Blocking(c.sid, c.node, s.ha.services); len(blocking) > 0 {
			s.log.Debug("HA command dropped", "service", c.sid, "node", c.node, "because of", blocking)
			continue
		}
		for _, sid := range append([]string{c.sid}, s.managed(m.affinity.Together(c.sid))...) {
			s.ha.services[sid].Command = &ha.Command{Kind: c.kind, Node: c.node}
		}
	}
}

// tend lets one service go its next step.
func (m *manager) tend(r *haResource, g *guest, sv *ha.Service) {
	s := m.s
	moving := sv.State == ha.Migrate || sv.State == ha.Relocate
	if !moving {
		sv.Node = g.node // somebody else may have moved it
	}
	n := s.nodes[sv.Node]
	switch {
	case !n.online && r.state == "disabled" && sv.State == ha.Stopped:
	case !n.online:
		m.fence(r, g, sv, s.now().Sub(n.down))
	case moving:
	case sv.State == ha.Error:
		if r.state == "disabled" {
			*sv = ha.Service{Node: sv.Node, State: ha.Stopped}
		}
	case r.state == "started":
		m.keep(r, g, sv)
	case sv.State == ha.Started:
		sv.State, sv.Running = ha.RequestStop, false
	case g.state != stopped:
		m.stop(g, sv)
	default:
		sv.State, sv.Running = ha.Stopped, false
		m.obey(r, g, sv)
	}
}

// stop shuts a guest down, by force if it does not follow.
func (m *manager) stop(g *guest, sv *ha.Service) {
	s := m.s
	if s.busyWith(g) {
		return
	}
	s.fork(nil, g.node, taskKind(g, "shutdown"), itoa(g.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		s.powerOff(t, g)
		return nil
	})
	if g.state == stopped {
		sv.State = ha.Stopped
	}
}

// obey carries out a command to move.
func (m *manager) obey(r *haResource, g *guest, sv *ha.Service) bool {
	c := sv.Command
	sv.Command = nil
	if c == nil || !slices.Contains(m.online, c.Node) || c.Node == sv.Node {
		return false
	}
	m.move(r, g, sv, c.Kind, c.Node)
	return true
}

// keep has a service run, and run where it belongs.
func (m *manager) keep(r *haResource, g *guest, sv *ha.Service) {
	if m.s.haNodeState(sv.Node) == "maintenance" && sv.Return == "" {
		sv.Return = sv.Node
	}
	sv.State = ha.Started
	if m.obey(r, g, sv) {
		return
	}
	preference := ha.Stay
	if sv.Tries > int(atoi64(or(r.fields["max_restart"], "1"))) {
		sv.Tries, sv.Failed, preference = 0, append(sv.Failed, sv.Node), ha.Next
		if len(sv.Failed) > int(atoi64(or(r.fields["max_relocate"], "1"))) {
			sv.State = ha.Error
			return
		}
	}
	to := m.affinity.Select(r.sid, ha.Choice{Services: m.s.ha.services, Online: m.online, Failback: m.s.goesBack(r), Preference: preference})
	if to == "" || to == sv.Node {
		if to != "" && sv.Return == sv.Node {
			sv.Return = ""
		}
		m.run(g, sv)
		return
	}
	if sv.Return == to || sv.Node != sv.Return {
		sv.Return = ""
	}
	kind := ha.Migrate
	if g.kind == "lxc" {
		kind = ha.Relocate
	}
	m.move(r, g, sv, kind, to)
}

// run starts a service that does not run.
func (m *manager) run(g *guest, sv *ha.Service) {
	s := m.s
	if g.state != stopped {
		sv.Tries, sv.Failed, sv.Running = 0, nil, true
		return
	}
	if s.busyWith(g) {
		return
	}
	sv.Tries++
	sv.Running = false
	s.fork(nil, g.node, taskKind(g, "start"), itoa(g.vmid), func(t *task) error {
		t.say("task started by HA resource agent")
		return s.powerOn(t, g.node, g.vmid, false)
	})
}

// busyWith tells whether a task of the guest is running; those that only ask the manager for something do not count.
func (s *state) busyWith(g *guest) bool {
	return slices.ContainsFunc(s.tasks, func(t *task) bool {
		return t.ended.IsZero() && t.id == itoa(g.vmid) && !strings.HasPrefix(t.kind, "ha")
	})
}

// move takes a service to another node: running, or after a shutdown if it is to be relocated.
func (m *manager) move(r *haResource, g *guest, sv *ha.Service, kind, to string) {
	s := m.s
	if s.busyWith(g) {
		sv.Command = &ha.Command{Kind: kind, Node: to}
		return
	}
	from := g.node
	sv.State, sv.Target = kind, to
	s.fork(nil, from, taskKind(g, "migrate"), itoa(g.vmid), func(t *task) error {
		if kind == ha.Relocate {
			s.powerOff(t, g)
		}
		err := s.migrate(t, from, to, g.vmid, true)
		sv.Target, sv.Node = "", g.node
		sv.State = map[bool]string{true: ha.Started, false: ha.RequestStop}[r.state == "started"]
		return err
	})
}

// removableLocks do not outlive the node whose task set them.
var removableLocks = []string{"backup", "mounted", "migrate", "clone", "rollback", "snapshot", "snapshot-delete", "suspending", "suspended"}

// fence follows a node that is gone: after the delay it counts as fenced, after another its services are recovered
// elsewhere. Local disks do not move.
func (m *manager) fence(r *haResource, g *guest, sv *ha.Service, gone time.Duration) {
	s := m.s
	delay := s.profile.FenceDelay
	switch {
	case gone < delay:
		return
	case gone < 2*delay:
		sv.State, sv.Target, sv.Running = ha.Fence, "", false
		return
	}
	sv.State = ha.Recovery
	to := m.affinity.Select(r.sid, ha.Choice{Services: s.ha.services, Online: m.online, Preference: ha.Best})
	if to == "" {
		return
	}
	g.node, sv.Node, g.state = to, to, stopped
	if slices.Contains(removableLocks, g.lock()) {
		delete(g.conf, "lock")
	}
	sv.State = map[bool]string{true: ha.Started, false: ha.Stopped}[r.state == "started"]
	if r.state == "started" {
		m.run(g, sv)
	}
}
