package ha

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/proxmox"
)

// look is everything that a plan is made of.
type look struct {
	*machines.Cluster
	// on is true where the cluster's control plane is to be in HA: the Fleet says so, and its disks are on shared storage.
	on bool
	// allowed are the Proxmox VE nodes that the cluster may use, as claim or Fleet name them; none means any.
	allowed []string
	// nodes are Proxmox VE's nodes, online those of them that are on.
	nodes, online []string
	// guests is Proxmox VE's list by VMID.
	guests map[int]proxmox.Machine
	// shared tells by name which storages all nodes see.
	shared  map[string]bool
	manager manager
	// outFor is how long a machine's VM has been seen out of HA.
	outFor func(*machines.Machine) time.Duration
}

// plan is what is to be done about one cluster.
type plan struct {
	// hold are machines that get the hook, or another reason for it; free are those that lose it.
	hold []hook
	free []*machines.Machine
	// mark are machines whose VM has moved; unmark those whose mark has done its work.
	mark, unmark []*machines.Machine
	// out are resources to take out of HA, in those to put in or to change.
	out []string
	in  []proxmox.HAResource
	// rules are those that the cluster is to have, once all is in HA; group is the group of 8.4.
	rules []proxmox.HARule
	group *proxmox.HAGroup
}

// hook is a machine and why its deletion is to be held.
type hook struct {
	*machines.Machine
	why string
}

// The reasons for a hook, as its annotation's value says them.
const (
	inHA  = "in-ha"
	moved = "moved"
)

// crmCycle is how long the HA manager may take to notice that a VM is out of its care: until then it may still move
// it (pve-ha-manager, PVE/HA/CRM.pm: one round in ten seconds).
const crmCycle = 10 * time.Second

// newPlan decides what to do about one cluster.
func newPlan(l *look) plan {
	var p plan
	members := l.members()
	wanted := map[string]bool{}
	for _, m := range members {
		wanted[sid(m.VM.ID)] = true
	}
	p.out = l.leaving(wanted)
	p.rules, p.group = l.rules(members)
	for _, m := range members {
		r, change := l.resource(m, p.group)
		if !change {
			continue
		}
		p.in = append(p.in, r)
		if _, in := l.manager.resources[r.ID]; in && r.Group == "" {
			p.out = append(p.out, r.ID) // a group can be left in no other way; the VM keeps running
		}
	}
	for _, m := range l.Machines {
		l.hook(&p, m, wanted[sid(m.VM.ID)])
	}
	return p
}

// members are the machines whose VMs are to be in HA, elders first: joined control-plane machines that stay. A VM that
// is off is not put in, since HA would start it; one that is in stays in.
func (l *look) members() []*machines.Machine {
	if !l.on || !l.manager.known || l.Leaving() {
		return nil
	}
	list := slices.DeleteFunc(l.ControlPlane(), func(m *machines.Machine) bool {
		g, listed := l.guests[m.VM.ID]
		_, in := l.manager.resources[sid(m.VM.ID)]
		return !m.Joined || !m.Staying() || m.VM.ID == 0 || !listed || !in && g.Status != "running"
	})
	slices.SortFunc(list, func(a, b *machines.Machine) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// leaving are the resources to take out: of machines that are being deleted, whoever put them in, and our own that
// are not wanted. What a person put into HA stays while its machine does.
func (l *look) leaving(wanted map[string]bool) []string {
	out := map[string]bool{}
	for _, m := range l.Machines {
		if _, in := l.manager.resources[sid(m.VM.ID)]; in && (!m.Staying() || l.Leaving()) {
			out[sid(m.VM.ID)] = true
		}
	}
	for id, r := range l.manager.resources {
		if r.Comment == comment(l.Key.Namespace, l.Key.Name) && !wanted[id] {
			out[id] = true
		}
	}
	return sortedKeys(out)
}

// resource is a member's resource, and whether it has to be made or changed.
func (l *look) resource(m *machines.Machine, group *proxmox.HAGroup) (proxmox.HAResource, bool) {
	want := proxmox.HAResource{ID: sid(m.VM.ID), State: "started", Comment: comment(m.Namespace, m.Cluster)}
	if group != nil {
		want.Group = group.ID
	}
	live, in := l.manager.resources[want.ID]
	switch {
	case !in:
		return want, true
	case live.Comment != want.Comment || live.Group == want.Group || live.Group != "" && !strings.HasPrefix(live.Group, rulePrefix):
		return want, false // it is as it is to be, or a person's own
	}
	want.State = live.State
	return want, true
}

// hook decides about one machine's hook and mark. The hook comes before the VM is in HA, and goes once it is out, the
// manager has had its time, and the provider has recorded where the VM is.
func (l *look) hook(p *plan, m *machines.Machine, wanted bool) {
	_, in := l.manager.resources[sid(m.VM.ID)]
	away := l.away(m)
	switch {
	case away != "" && m.VM.Mark != away:
		p.mark = append(p.mark, m)
	case away == "" && m.VM.Mark != "":
		p.unmark = append(p.unmark, m)
	}
	switch {
	case wanted || in:
		if m.Hook != inHA {
			p.hold = append(p.hold, hook{m, inHA})
		}
	case !m.Hooked:
		if away != "" {
			p.hold = append(p.hold, hook{m, moved})
		}
	case away == "" && l.out(m):
		p.free = append(p.free, m)
	}
}

// away is the node that a VM is on, where the provider has another on record; empty where it has the right one, where
// the VM is not listed, and before the provider has begun to record.
func (l *look) away(m *machines.Machine) string {
	g, listed := l.guests[m.VM.ID]
	if !listed || m.VM.Node == "" || g.Node == m.VM.Node {
		return ""
	}
	return g.Node
}

// out is true when a hooked machine's VM is certain to be out of HA for long enough. One that was never in needs no
// asking.
func (l *look) out(m *machines.Machine) bool {
	return m.Hook == moved || l.manager.known && l.outFor(m) >= crmCycle
}

func sortedKeys(set map[string]bool) []string {
	var list []string
	for id := range set {
		list = append(list, id)
	}
	slices.Sort(list)
	return list
}
