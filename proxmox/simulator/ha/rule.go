// Package ha decides where the HA manager of Proxmox VE has guests run: which rules can be kept, and which node a guest
// belongs on. It knows nothing of the API and starts nothing.
//
// Source: pve-ha-manager src/PVE/HA/{Manager,Rules}.pm, HA/Rules/*.pm. Groups of 8.4 are rules of node affinity here.
package ha

import (
	"maps"
	"slices"
)

// The types of rules.
const (
	NodeAffinity     = "node-affinity"
	ResourceAffinity = "resource-affinity"
)

// Rule says where resources run.
type Rule struct {
	ID, Kind  string
	Resources []string       // sorted
	Nodes     map[string]int // node -> priority, of a node affinity
	Strict    bool           // of a node affinity: nowhere else
	Negative  bool           // of a resource affinity: apart, not together
	Disabled  bool
	Comment   string
	// DisableSet tells whether "disable" was ever given: only then is it shown.
	DisableSet bool
}

func (r *Rule) concerns(sid string) bool { return slices.Contains(r.Resources, sid) }

func (r *Rule) positive() bool { return r.Kind == ResourceAffinity && !r.Negative }
func (r *Rule) negative() bool { return r.Kind == ResourceAffinity && r.Negative }
func (r *Rule) ofNodes() bool  { return r.Kind == NodeAffinity }

func enabled(rules []*Rule, is func(*Rule) bool) []*Rule {
	var list []*Rule
	for _, r := range rules {
		if !r.Disabled && is(r) {
			list = append(list, r)
		}
	}
	return list
}

func common(a, b []string) (n int) {
	for _, v := range a {
		if slices.Contains(b, v) {
			n++
		}
	}
	return n
}

// bundle is a set of resources that rules keep together.
type bundle struct {
	resources []string
	rules     []string
}

// bundles joins positive rules that share resources.
func bundles(rules []*Rule) []*bundle {
	sorted := enabled(rules, (*Rule).positive)
	slices.SortFunc(sorted, func(a, b *Rule) int { return slices.Compare(a.Resources, b.Resources) })
	var list []*bundle
	for _, r := range sorted {
		i := slices.IndexFunc(list, func(b *bundle) bool { return common(b.resources, r.Resources) > 0 })
		if i < 0 {
			list = append(list, &bundle{resources: slices.Clone(r.Resources), rules: []string{r.ID}})
			continue
		}
		b := list[i]
		b.rules = append(b.rules, r.ID)
		b.resources = append(b.resources, r.Resources...)
		slices.Sort(b.resources)
		b.resources = slices.Compact(b.resources)
	}
	return list
}

// Feasible are the rules that the manager follows: enabled ones that can be kept.
func Feasible(rules []*Rule, nodes int) []*Rule {
	broken := Infeasible(rules, nodes)
	return enabled(rules, func(r *Rule) bool { return broken[r.ID] == nil })
}

// errors are the reasons against rules, by the rule's ID. All concern the property "resources".
type errors map[string][]string

func (e errors) add(id, text string) { e[id] = append(e[id], text) }

// checks are asked in this order.
var checks = []func(rules []*Rule, nodes int, e errors){
	usedTwice, tooFewResources, tooManyResources, contradictions, severalPriorities, severalNodeRules, tooFewNodes,
}

// Infeasible tells why rules cannot be kept beside each other on so many nodes: rule -> texts.
func Infeasible(rules []*Rule, nodes int) map[string][]string {
	e := errors{}
	for _, check := range checks {
		check(rules, nodes, e)
	}
	return e
}

func usedTwice(rules []*Rule, _ int, e errors) {
	by := map[string][]string{}
	for _, r := range enabled(rules, (*Rule).ofNodes) {
		for _, sid := range r.Resources {
			by[sid] = append(by[sid], r.ID)
		}
	}
	for _, sid := range slices.Sorted(maps.Keys(by)) {
		if len(by[sid]) < 2 {
			continue
		}
		for _, id := range by[sid] {
			e.add(id, "resource '"+sid+"' is already used in another node affinity rule")
		}
	}
}

func tooFewResources(rules []*Rule, _ int, e errors) {
	for _, r := range enabled(rules, func(r *Rule) bool { return r.Kind == ResourceAffinity && len(r.Resources) < 2 }) {
		e.add(r.ID, "rule is ineffective as there are less than two resources")
	}
}

func tooManyResources(rules []*Rule, nodes int, e errors) {
	for _, r := range enabled(rules, (*Rule).negative) {
		if len(r.Resources) > nodes {
			e.add(r.ID, "rule defines more resources than available nodes")
		}
	}
}

// contradictions: two resources cannot be together and apart.
func contradictions(rules []*Rule, _ int, e errors) {
	for _, together := range bundles(rules) {
		for _, apart := range enabled(rules, (*Rule).negative) {
			if common(together.resources, apart.Resources) < 2 {
				continue
			}
			e.add(apart.ID, "rule shares two or more resources with a positive resource affinity rule")
			for _, id := range together.rules {
				e.add(id, "rule shares two or more resources with a negative resource affinity rule")
			}
		}
	}
}

func (r *Rule) hasPriorities() bool {
	distinct := map[int]bool{}
	for _, p := range r.Nodes {
		distinct[p] = true
	}
	return len(distinct) > 1
}

func severalPriorities(rules []*Rule, _ int, e errors) {
	for _, r := range enabled(rules, func(r *Rule) bool { return r.Kind == ResourceAffinity }) {
		paired := enabled(rules, func(n *Rule) bool { return n.ofNodes() && common(n.Resources, r.Resources) > 0 })
		if !slices.ContainsFunc(paired, (*Rule).hasPriorities) {
			continue
		}
		e.add(r.ID, "resources are in node affinity rules with multiple priorities")
		for _, n := range paired {
			e.add(n.ID, "resources are in a resource affinity rule and cannot be in a node affinity rule with multiple priorities")
		}
	}
}

func severalNodeRules(rules []*Rule, _ int, e errors) {
	for _, together := range bundles(rules) {
		paired := enabled(rules, func(n *Rule) bool { return n.ofNodes() && common(n.Resources, together.resources) > 0 })
		if len(paired) < 2 {
			continue
		}
		for _, id := range together.rules {
			e.add(id, "resources are in multiple node affinity rules")
		}
		for _, n := range paired {
			e.add(n.ID, "at least one resource is in a positive resource affinity rule and there are other resources in at least one other node affinity rule already")
		}
	}
}

// tooFewNodes: resources that must be apart but are confined to fewer nodes than there are of them.
func tooFewNodes(rules []*Rule, _ int, e errors) {
	for _, r := range enabled(rules, (*Rule).negative) {
		located, nodes := map[string]bool{}, map[string]bool{}
		paired := enabled(rules, func(n *Rule) bool { return n.ofNodes() && common(n.Resources, r.Resources) > 0 })
		for _, n := range paired {
			for _, sid := range n.Resources {
				if r.concerns(sid) {
					located[sid] = true
				}
			}
			maps.Copy(nodes, set(n.Nodes))
		}
		if len(nodes) >= len(located) {
			continue
		}
		e.add(r.ID, "two or more resources are restricted to less nodes than available to the resources")
		for _, n := range paired {
			e.add(n.ID, "at least one resource is in a negative resource affinity rule and this rule would restrict these to less nodes than available to the resources")
		}
	}
}

func set[V any](m map[string]V) map[string]bool {
	keys := map[string]bool{}
	for k := range m {
		keys[k] = true
	}
	return keys
}
