package ha

import (
	"slices"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/proxmox"
)

// The kinds of rules that a cluster may have.
const (
	apartKind = "apart"
	nodesKind = "nodes"
)

// rules are the rules that a cluster is to have, or its group in 8.4, which can keep VMs on nodes but not apart.
func (l *look) rules(members []*machines.Machine) ([]proxmox.HARule, *proxmox.HAGroup) {
	if len(members) == 0 {
		return nil, nil
	}
	some := l.someNodes()
	about := comment(l.Key.Namespace, l.Key.Name)
	if l.manager.grouped {
		if len(some) == 0 {
			return nil, nil
		}
		return nil, &proxmox.HAGroup{ID: ruleID(nodesKind, l.Key.Namespace, l.Key.Name), Nodes: some, Restricted: true, Comment: about}
	}
	var rules []proxmox.HARule
	if len(some) > 0 {
		rules = append(rules, proxmox.HARule{ID: ruleID(nodesKind, l.Key.Namespace, l.Key.Name), Type: proxmox.NodeAffinity,
			Resources: ids(members), Nodes: some, Strict: true, Comment: about})
	}
	if apart := l.apart(members, some); len(apart) > 1 {
		rules = append(rules, proxmox.HARule{ID: ruleID(apartKind, l.Key.Namespace, l.Key.Name), Type: proxmox.ResourceAffinity,
			Affinity: proxmox.Apart, Resources: apart, Comment: about})
	}
	return rules, nil
}

// someNodes are the nodes that the cluster may use, where those are not all there are. A name that Proxmox VE does not
// have is left out, since it refuses rules with it.
func (l *look) someNodes() []string {
	some := sortedBoth(l.allowed, l.nodes)
	if len(some) == len(l.nodes) {
		return nil
	}
	return some
}

// apart are the VMs that are kept apart: as many as there are nodes for them that are on and that the manager knows.
// It refuses, and ignores, a rule with more VMs than it knows nodes; and where all nodes are taken, it would leave the
// VM of a node that failed off until the node is back, rather than start it beside another. So that VM is left out
// meanwhile, and is moved apart again afterwards. Beyond that the eldest are chosen, so that a rolling replacement
// changes the rule once a machine. Before the manager has run for the first time it knows no node, and there is no rule.
func (l *look) apart(members []*machines.Machine, some []string) []string {
	nodes := sortedBoth(l.manager.nodes, l.online)
	if len(some) > 0 {
		nodes = sortedBoth(nodes, some)
	}
	var up, down []*machines.Machine
	for _, m := range members {
		if slices.Contains(l.online, l.guests[m.VM.ID].Node) {
			up = append(up, m)
		} else {
			down = append(down, m)
		}
	}
	chosen := append(up, down...)
	return ids(chosen[:min(len(nodes), len(chosen))])
}

func ids(members []*machines.Machine) []string {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = sid(m.VM.ID)
	}
	slices.Sort(list)
	return list
}

// sameRule compares what is ours to say; the order of lists is not.
func sameRule(a, b proxmox.HARule) bool {
	return a.Type == b.Type && a.Affinity == b.Affinity && a.Strict == b.Strict && a.Disabled == b.Disabled &&
		sameList(a.Resources, b.Resources) && sameList(a.Nodes, b.Nodes)
}

func sameGroup(a, b proxmox.HAGroup) bool {
	return a.Restricted == b.Restricted && sameList(a.Nodes, b.Nodes)
}

func sameList(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// enough is true for a rule that Proxmox VE takes with these resources.
func enough(r proxmox.HARule, resources []string) bool {
	if r.Type == proxmox.ResourceAffinity {
		return len(resources) > 1
	}
	return len(resources) > 0
}
