package simulator

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/ha"
)

// haResource is a guest that the HA manager looks after.
type haResource struct {
	sid    string
	state  string            // what is asked for: started, stopped, disabled, ignored
	fields map[string]string // max_restart, max_relocate, failback, comment, group: as far as they were set
}

// haState is what the HA manager knows.
type haState struct {
	resources map[string]*haResource
	rules     []*ha.Rule
	groups    map[string]map[string]string // 8.4
	services  map[string]*ha.Service
	commands  []haCommand     // that the manager has not read yet
	resting   map[string]bool // nodes that are asked to be in maintenance
	ran       bool            // the manager ran once: it knows the nodes
}

// haCommand asks the manager to move a service.
type haCommand struct{ kind, sid, node string }

func newHA() haState {
	return haState{resources: map[string]*haResource{}, groups: map[string]map[string]string{}, services: map[string]*ha.Service{}, resting: map[string]bool{}}
}

func haID(g *guest) string {
	if g.kind == "lxc" {
		return "ct:" + itoa(g.vmid)
	}
	return "vm:" + itoa(g.vmid)
}

// guestOfSID returns the guest of a resource, nil if it is gone.
func (s *state) guestOfSID(sid string) *guest {
	_, id, _ := strings.Cut(sid, ":")
	g := s.guests[int(atoi64(id))]
	if g == nil || haID(g) != sid {
		return nil
	}
	return g
}

// forget takes a service out of the configuration, with the rules that are left without any.
func (h *haState) forget(sid string) {
	delete(h.resources, sid)
	for _, r := range h.rules {
		r.Resources = slices.DeleteFunc(r.Resources, func(s string) bool { return s == sid })
	}
	h.rules = slices.DeleteFunc(h.rules, func(r *ha.Rule) bool { return len(r.Resources) == 0 })
}

// haRequest returns the resource of a guest that the HA manager starts and stops, nil if others may.
func (s *state) haRequest(vmid int) *haResource {
	g := s.guests[vmid]
	if g == nil {
		return nil
	}
	if r := s.ha.resources[haID(g)]; r != nil && r.state != "ignored" {
		return r
	}
	return nil
}

// manageSoon lets the manager act at once where its cycle takes no time.
func (s *state) manageSoon() {
	if s.profile.ManagerCycle > 0 {
		return
	}
	for range 4 { // stop and start need a cycle each; moves one more
		s.manager(s)
	}
}

func ruleNodes(r *ha.Rule) string {
	var list []string
	for _, n := range sortedKeys(r.Nodes) {
		if p := r.Nodes[n]; p > 0 {
			n += ":" + strconv.Itoa(p)
		}
		list = append(list, n)
	}
	return strings.Join(list, ",")
}

func nodePriorities(list []string) map[string]int {
	nodes := map[string]int{}
	for _, entry := range list {
		name, priority, _ := strings.Cut(entry, ":")
		nodes[name], _ = strconv.Atoi(priority)
	}
	return nodes
}

func (s *state) haState(g *guest) string {
	if sv := s.ha.services[haID(g)]; sv != nil {
		return sv.State
	}
	return ""
}

func (s *state) haStatus(g *guest) row {
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
func (s *state) haNodeState(name string) string {
	n := s.nodes[name]
	switch {
	case s.cluster == "" || n == nil:
		return ""
	case n.online && s.ha.resting[name]:
		return "maintenance"
	case n.online:
		return "online"
	}
	for _, sv := range s.ha.services {
		if sv.Node == name && sv.State == ha.Fence {
			return "fence"
		}
	}
	return "unknown"
}

// request asks the HA manager for a state; the task ends before the manager acts.
func (s *state) request(t *task, r *haResource, state string) error {
	r.state = state
	err := t.busy()
	s.manageSoon()
	return err
}
