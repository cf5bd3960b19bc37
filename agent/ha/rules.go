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

// apart are the VMs that are kept apart: as many as the manager knows nodes for them, since it refuses, and ignores, a
// rule with more. The eldest are chosen, so that a rolling replacement changes the rule once a machine. Before the
// manager has run for the first time it knows no node, and there is no rule yet.
func (l *look) apart(members []*machines.Machine, some []string) []string {
	nodes := len(l.manager.nodes)
	if len(some) > 0 {
		nodes = len(sortedBoth(l.manager.nodes, some))
	}
	return ids(members[:min(nodes, len(members))])
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
