package ha

import (
	"maps"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/ha"
)

// manager is one cycle of the HA manager: it compares what is asked for with what is, and acts.
// Source: pve-ha-manager src/PVE/HA/Manager.pm.
type manager struct {
	s        *core.State
	affinity *ha.Affinity
	online   []string // nodes that take services
}

// haNodes are the nodes that the manager knows: none before it ran for the first time.
func haNodes(s *core.State) []string {
	if !s.HA.Ran {
		return nil
	}
	return s.NodeNames()
}

// affinity is what the rules, or the groups of 8.4, mean.
func affinity(s *core.State) *ha.Affinity {
	rules := s.HA.Rules
	if s.Version == access.V8 {
		rules = groupRules(s)
	}
	return ha.Compile(rules, haNodes(s))
}

// Manage is one cycle of the manager.
func Manage(s *core.State) {
	if !s.Quorate() {
		return
	}
	s.HA.Ran = s.HA.Ran || len(s.HA.Resources) > 0
	m := &manager{s: s, affinity: affinity(s)}
	for _, n := range s.NodeNames() {
		if s.HANodeState(n) == "online" {
			m.online = append(m.online, n)
		}
	}
	m.adopt()
	m.readCommands()
	for _, sid := range core.SortedKeys(s.HA.Services) {
		r, g, sv := s.HA.Resources[sid], s.GuestOfSID(sid), s.HA.Services[sid]
		if r == nil || g == nil || sv == nil { // a guest may be asked in between, without the lock
			continue
		}
		m.tend(r, g, sv)
	}
}

// adopt takes new resources on and forgets those that are no longer there, or to be ignored.
func (m *manager) adopt() {
	s := m.s
	maps.DeleteFunc(s.HA.Services, func(sid string, _ *ha.Service) bool {
		r := s.HA.Resources[sid]
		return r == nil || r.State == "ignored" || s.GuestOfSID(sid) == nil
	})
	for sid, r := range s.HA.Resources {
		g := s.GuestOfSID(sid)
		if s.HA.Services[sid] != nil || g == nil || r.State == "ignored" {
			continue
		}
		s.HA.Services[sid] = &ha.Service{Node: g.Node, State: map[bool]string{true: ha.Started, false: ha.Stopped}[r.State == "started"]}
	}
}

// readCommands gives commands to their services, and to those that are to be with them. A command that would bring two
// together that are to be apart is dropped.
func (m *manager) readCommands() {
	s := m.s
	commands := s.HA.Commands
	s.HA.Commands = nil
	for _, c := range commands {
		sv := s.HA.Services[c.SID]
		if sv == nil || !slices.Contains(m.online, c.Node) || sv.Node == c.Node {
			continue
		}
		if blocking := m.affinity.Blocking(c.SID, c.Node, s.HA.Services); len(blocking) > 0 {
			s.Log.Debug("HA command dropped", "service", c.SID, "node", c.Node, "because of", blocking)
			continue
		}
		for _, sid := range append([]string{c.SID}, managed(s, m.affinity.Together(c.SID))...) {
			s.HA.Services[sid].Command = &ha.Command{Kind: c.Kind, Node: c.Node}
		}
	}
}

// tend lets one service go its next step.
func (m *manager) tend(r *core.HAResource, g *core.Guest, sv *ha.Service) {
	s := m.s
	moving := sv.State == ha.Migrate || sv.State == ha.Relocate
	if !moving {
		sv.Node = g.Node // somebody else may have moved it
	}
	n := s.Nodes[sv.Node]
	switch {
	case !n.Online && r.State == "disabled" && sv.State == ha.Stopped:
	case !n.Online:
		m.fence(r, g, sv, s.Now().Sub(n.Down))
	case moving:
	case sv.State == ha.Error:
		if r.State == "disabled" {
			*sv = ha.Service{Node: sv.Node, State: ha.Stopped}
		}
	case r.State == "started":
		m.keep(r, g, sv)
	case sv.State == ha.Started:
		sv.State, sv.Running = ha.RequestStop, false
	case g.State != core.Stopped:
		m.stop(g, sv)
	default:
		sv.State, sv.Running = ha.Stopped, false
		m.obey(r, g, sv)
	}
}

// stop shuts a guest down, by force if it does not follow.
func (m *manager) stop(g *core.Guest, sv *ha.Service) {
	s := m.s
	if busyWith(s, g) {
		return
	}
	s.Fork(nil, g.Node, core.TaskKind(g, "shutdown"), core.Itoa(g.VMID), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		guest.PowerOff(s, t, g)
		return nil
	})
	if g.State == core.Stopped {
		sv.State = ha.Stopped
	}
}

// obey carries out a command to move.
func (m *manager) obey(r *core.HAResource, g *core.Guest, sv *ha.Service) bool {
	c := sv.Command
	sv.Command = nil
	if c == nil || !slices.Contains(m.online, c.Node) || c.Node == sv.Node {
		return false
	}
	m.move(r, g, sv, c.Kind, c.Node)
	return true
}

// keep has a service run, and run where it belongs.
func (m *manager) keep(r *core.HAResource, g *core.Guest, sv *ha.Service) {
	if m.s.HANodeState(sv.Node) == "maintenance" && sv.Return == "" {
		sv.Return = sv.Node
	}
	sv.State = ha.Started
	if m.obey(r, g, sv) {
		return
	}
	preference := ha.Stay
	if sv.Tries > int(core.Atoi64(core.Or(r.Fields["max_restart"], "1"))) {
		sv.Tries, sv.Failed, preference = 0, append(sv.Failed, sv.Node), ha.Next
		if len(sv.Failed) > int(core.Atoi64(core.Or(r.Fields["max_relocate"], "1"))) {
			sv.State = ha.Error
			return
		}
	}
	to := m.affinity.Select(r.SID, ha.Choice{Services: m.s.HA.Services, Online: m.online, Failback: goesBack(m.s, r), Preference: preference})
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
	if g.Kind == "lxc" {
		kind = ha.Relocate
	}
	m.move(r, g, sv, kind, to)
}

// run starts a service that does not run.
func (m *manager) run(g *core.Guest, sv *ha.Service) {
	s := m.s
	if g.State != core.Stopped {
		sv.Tries, sv.Failed, sv.Running = 0, nil, true
		return
	}
	if busyWith(s, g) {
		return
	}
	sv.Tries++
	sv.Running = false
	s.Fork(nil, g.Node, core.TaskKind(g, "start"), core.Itoa(g.VMID), func(t *core.Task) error {
		t.Say("task started by HA resource agent")
		return guest.PowerOn(s, t, g.Node, g.VMID, false)
	})
}

// busyWith tells whether a task of the guest is running; those that only ask the manager for something do not count.
func busyWith(s *core.State, g *core.Guest) bool {
	return slices.ContainsFunc(s.Tasks, func(t *core.Task) bool {
		return t.Ended.IsZero() && t.ID == core.Itoa(g.VMID) && !strings.HasPrefix(t.Kind, "ha")
	})
}

// move takes a service to another node: running, or after a shutdown if it is to be relocated.
func (m *manager) move(r *core.HAResource, g *core.Guest, sv *ha.Service, kind, to string) {
	s := m.s
	if busyWith(s, g) {
		sv.Command = &ha.Command{Kind: kind, Node: to}
		return
	}
	from := g.Node
	sv.State, sv.Target = kind, to
	s.Fork(nil, from, core.TaskKind(g, "migrate"), core.Itoa(g.VMID), func(t *core.Task) error {
		if kind == ha.Relocate {
			guest.PowerOff(s, t, g)
		}
		err := guest.Migrate(s, t, from, to, g.VMID, true)
		sv.Target, sv.Node = "", g.Node
		sv.State = map[bool]string{true: ha.Started, false: ha.RequestStop}[r.State == "started"]
		return err
	})
}

// removableLocks do not outlive the node whose task set them.
var removableLocks = []string{"backup", "mounted", "migrate", "clone", "rollback", "snapshot", "snapshot-delete", "suspending", "suspended"}

// fence follows a node that is gone: after the delay it counts as fenced, after another its services are recovered
// elsewhere. Local disks do not move.
func (m *manager) fence(r *core.HAResource, g *core.Guest, sv *ha.Service, gone time.Duration) {
	s := m.s
	delay := s.Profile.FenceDelay
	switch {
	case gone < delay:
		return
	case gone < 2*delay:
		sv.State, sv.Target, sv.Running = ha.Fence, "", false
		return
	}
	sv.State = ha.Recovery
	to := m.affinity.Select(r.SID, ha.Choice{Services: s.HA.Services, Online: m.online, Preference: ha.Best})
	if to == "" {
		return
	}
	g.Node, sv.Node, g.State = to, to, core.Stopped
	if slices.Contains(removableLocks, g.Lock()) {
		delete(g.Conf, "lock")
	}
	sv.State = map[bool]string{true: ha.Started, false: ha.Stopped}[r.State == "started"]
	if r.State == "started" {
		m.run(g, sv)
	}
}
