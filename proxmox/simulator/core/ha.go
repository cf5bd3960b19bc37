package core

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/ha"
)

// HAResource is a guest that the HA manager looks after.
type HAResource struct {
	SID    string
	State  string            // what is asked for: started, stopped, disabled, ignored
	Fields map[string]string // max_restart, max_relocate, failback, comment, group: as far as they were set
}

// HAManager is what the HA manager knows.
type HAManager struct {
	Resources map[string]*HAResource
	Rules     []*ha.Rule
	Groups    map[string]map[string]string // 8.4
	Services  map[string]*ha.Service
	Commands  []HACommand     // that the manager has not read yet
	Resting   map[string]bool // nodes that are asked to be in maintenance
	Ran       bool            // the manager ran once: it knows the nodes
}

// HACommand asks the manager to move a service.
type HACommand struct{ Kind, SID, Node string }

func newHA() HAManager {
	return HAManager{Resources: map[string]*HAResource{}, Groups: map[string]map[string]string{}, Services: map[string]*ha.Service{}, Resting: map[string]bool{}}
}

// HAID is the ID that a guest has as a resource of the HA manager.
func HAID(g *Guest) string {
	if g.Kind == "lxc" {
		return "ct:" + Itoa(g.VMID)
	}
	return "vm:" + Itoa(g.VMID)
}

// GuestOfSID returns the guest of a resource, nil if it is gone.
func (s *State) GuestOfSID(sid string) *Guest {
	_, id, _ := strings.Cut(sid, ":")
	g := s.Guests[int(Atoi64(id))]
	if g == nil || HAID(g) != sid {
		return nil
	}
	return g
}

// Forget takes a service out of the configuration, with the rules that are left without any.
func (h *HAManager) Forget(sid string) {
	delete(h.Resources, sid)
	for _, r := range h.Rules {
		r.Resources = slices.DeleteFunc(r.Resources, func(s string) bool { return s == sid })
	}
	h.Rules = slices.DeleteFunc(h.Rules, func(r *ha.Rule) bool { return len(r.Resources) == 0 })
}

// HARequest returns the resource of a guest that the HA manager starts and stops, nil if others may.
func (s *State) HARequest(vmid int) *HAResource {
	g := s.Guests[vmid]
	if g == nil {
		return nil
	}
	if r := s.HA.Resources[HAID(g)]; r != nil && r.State != "ignored" {
		return r
	}
	return nil
}

// ManageSoon lets the manager act at once where its cycle takes no time.
func (s *State) ManageSoon() {
	if s.Profile.ManagerCycle > 0 {
		return
	}
	for range 4 { // stop and start need a cycle each; moves one more
		s.Manager(s)
	}
}

// RuleNodes is the reverse of NodePriorities: the nodes of a rule as the API shows them.
func RuleNodes(r *ha.Rule) string {
	var list []string
	for _, n := range SortedKeys(r.Nodes) {
		if p := r.Nodes[n]; p > 0 {
			n += ":" + strconv.Itoa(p)
		}
		list = append(list, n)
	}
	return strings.Join(list, ",")
}

// NodePriorities reads nodes such as pve1:2, with their priorities; without one it is 0.
func NodePriorities(list []string) map[string]int {
	nodes := map[string]int{}
	for _, entry := range list {
		name, priority, _ := strings.Cut(entry, ":")
		nodes[name], _ = strconv.Atoi(priority)
	}
	return nodes
}

// HAState is the state of a guest's service, empty without one.
func (s *State) HAState(g *Guest) string {
	if sv := s.HA.Services[HAID(g)]; sv != nil {
		return sv.State
	}
	return ""
}

// HAStatus is what the status of a guest says about HA.
func (s *State) HAStatus(g *Guest) Row {
	if s.HA.Resources[HAID(g)] == nil {
		return Row{"managed": 0}
	}
	r := Row{"managed": 1}
	if st := s.HAState(g); st != "" {
		r["state"] = st
	}
	return r
}

// HANodeState is a node as the HA manager sees it.
func (s *State) HANodeState(name string) string {
	n := s.Nodes[name]
	switch {
	case s.Cluster == "" || n == nil:
		return ""
	case n.Online && s.HA.Resting[name]:
		return "maintenance"
	case n.Online:
		return "online"
	}
	for _, sv := range s.HA.Services {
		if sv.Node == name && sv.State == ha.Fence {
			return "fence"
		}
	}
	return "unknown"
}

// RequestHA asks the HA manager for a state; the task ends before the manager acts.
func (s *State) RequestHA(t *Task, r *HAResource, state string) error {
	r.State = state
	err := t.Busy()
	s.ManageSoon()
	return err
}
