package ha

import (
	"maps"
	"slices"
)

// The states of a service.
const (
	Started     = "started"
	Stopped     = "stopped"
	RequestStop = "request_stop"
	Migrate     = "migrate"
	Relocate    = "relocate"
	Fence       = "fence"
	Recovery    = "recovery"
	Error       = "error"
)

// Service is a resource as the HA manager runs it.
type Service struct {
	Node    string
	Target  string // where it is going while it moves
	State   string
	Running bool
	Tries   int      // starts that failed in a row on this node
	Failed  []string // nodes on which it could not be started
	Return  string   // the node that it left for the time of a maintenance
	Command *Command // what was asked for and not done yet
}

// Command asks for a service to move.
type Command struct {
	Kind, Node string // migrate or relocate
}

// used are the nodes whose place the service takes.
func (s *Service) used() []string {
	switch s.State {
	case Stopped:
		return nil
	case Migrate, Relocate:
		return []string{s.Node, s.Target}
	}
	return []string{s.Node}
}

// Affinity is what rules mean for every resource.
type Affinity struct {
	nodes           map[string]map[string]int // resource -> node -> priority; nodes outside a rule that is not strict have -1
	together, apart map[string]map[string]bool
}

// Compile works out the rules that can be kept. What holds for a resource also holds for those that are to be with it.
func Compile(rules []*Rule, nodes []string) *Affinity {
	a := &Affinity{nodes: map[string]map[string]int{}, together: map[string]map[string]bool{}, apart: map[string]map[string]bool{}}
	kept := Feasible(rules, len(nodes))
	for _, r := range enabled(kept, (*Rule).ofNodes) {
		allowed := maps.Clone(r.Nodes)
		if !r.Strict {
			for _, n := range nodes {
				if _, named := allowed[n]; !named {
					allowed[n] = -1
				}
			}
		}
		for _, sid := range r.Resources {
			a.nodes[sid] = allowed
		}
	}
	for _, r := range enabled(kept, (*Rule).negative) {
		relate(a.apart, r.Resources, r.Resources)
	}
	for _, b := range bundles(kept) {
		relate(a.together, b.resources, b.resources)
		a.share(b.resources)
	}
	return a
}

// relate links each of one list with each of the other, itself excepted.
func relate(links map[string]map[string]bool, of, with []string) {
	for _, x := range of {
		for _, y := range with {
			if x == y {
				continue
			}
			if links[x] == nil {
				links[x] = map[string]bool{}
			}
			links[x][y] = true
		}
	}
}

// share lets resources that are together have the same nodes and the same others to keep away from.
func (a *Affinity) share(bundle []string) {
	away := map[string]bool{}
	var nodes map[string]int
	for _, sid := range bundle {
		maps.Copy(away, a.apart[sid])
		if nodes == nil {
			nodes = a.nodes[sid]
		}
	}
	for _, sid := range bundle {
		if nodes != nil {
			a.nodes[sid] = nodes
		}
	}
	others := slices.Sorted(maps.Keys(away))
	relate(a.apart, bundle, others)
	relate(a.apart, others, bundle)
}

// Together are the resources that are to be with one, sorted.
func (a *Affinity) Together(sid string) []string { return slices.Sorted(maps.Keys(a.together[sid])) }

// Apart are the resources that are to be away from one, sorted.
func (a *Affinity) Apart(sid string) []string { return slices.Sorted(maps.Keys(a.apart[sid])) }

// Preference is how a node is chosen.
type Preference int

// The preferences: stay where it is if that is allowed; the node with the least; the next one where it did not fail yet.
const (
	Stay Preference = iota
	Best
	Next
)

// Choice is the question on which node a service belongs.
type Choice struct {
	Services map[string]*Service
	Online   []string // nodes that take services
	Failback bool     // go back to a node of higher priority
	Preference
}

// Select returns the node, empty if there is none.
func (a *Affinity) Select(sid string, c Choice) string {
	sv := c.Services[sid]
	allowed, preferred := a.candidates(sid, c.Online)
	if len(preferred) == 0 {
		return ""
	}
	with, without := a.others(sid, c)
	if c.Preference == Stay && !c.Failback && allowed[sv.Node] && (with[sv.Node] > 0 || !without[sv.Node]) {
		return sv.Node
	}
	if c.Preference == Next {
		for _, n := range sv.Failed {
			delete(preferred, n)
		}
	}
	for n := range without {
		delete(preferred, n)
	}
	gather(with, preferred)
	switch {
	case preferred[sv.Return]:
		return sv.Return
	case c.Preference == Stay && preferred[sv.Node]:
		return sv.Node
	}
	return pick(slices.Collect(maps.Keys(preferred)), sv.Node, c)
}

// pick sorts by load and takes the first, or the one behind the present node if that is to be left.
func pick(nodes []string, present string, c Choice) string {
	if len(nodes) == 0 {
		return ""
	}
	load := map[string]int{}
	for _, sv := range c.Services {
		for _, n := range sv.used() {
			load[n]++
		}
	}
	slices.SortFunc(nodes, func(x, y string) int {
		if load[x] != load[y] {
			return load[x] - load[y]
		}
		if x < y {
			return -1
		}
		return 1
	})
	if i := slices.Index(nodes, present); c.Preference == Next && i >= 0 && i+1 < len(nodes) {
		return nodes[i+1]
	}
	return nodes[0]
}

// candidates are the nodes that a service may run on, and those of them with the highest priority.
func (a *Affinity) candidates(sid string, online []string) (allowed, preferred map[string]bool) {
	allowed, preferred = map[string]bool{}, map[string]bool{}
	rule, has := a.nodes[sid]
	highest := -2
	for _, n := range online {
		p, named := rule[n]
		if has && !named {
			continue
		}
		allowed[n] = true
		if p > highest {
			highest = p
			clear(preferred)
		}
		if p == highest {
			preferred[n] = true
		}
	}
	return allowed, preferred
}

// others are the nodes where those are that a service is to be with (and how many), and to be away from.
func (a *Affinity) others(sid string, c Choice) (with map[string]int, without map[string]bool) {
	with, without = map[string]int{}, map[string]bool{}
	for other := range a.together[sid] {
		if sv := c.Services[other]; sv != nil && len(sv.used()) > 0 {
			used := sv.used()
			with[used[len(used)-1]]++ // where it is going, if it moves
		}
	}
	for other := range a.apart[sid] {
		if sv := c.Services[other]; sv != nil {
			for _, n := range sv.used() {
				without[n] = true
			}
		}
	}
	return with, without
}

// gather leaves of the nodes the one where most of the others are.
func gather(with map[string]int, preferred map[string]bool) {
	best := ""
	for _, n := range slices.Sorted(maps.Keys(with)) {
		if preferred[n] && (best == "" || with[n] > with[best]) {
			best = n
		}
	}
	if best != "" {
		maps.DeleteFunc(preferred, func(n string, _ bool) bool { return n != best })
	}
}

// Blocking are the services on a node that one must stay away from.
func (a *Affinity) Blocking(sid, node string, services map[string]*Service) []string {
	var list []string
	for _, other := range a.Apart(sid) {
		if sv := services[other]; sv != nil && sv.Node == node && (sv.Target == "" || sv.Target == node) {
			list = append(list, other)
		}
	}
	return list
}
