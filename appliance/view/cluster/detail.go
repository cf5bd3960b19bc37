package cluster

import (
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render/plan"
)

// Describe is everything of one cluster. File and Can are left out. Versions are those with a VM template that its class takes.
func Describe(namespace, name string, git Git, of *live.Cluster, versions []string) Detail {
	d := Detail{Summary: Summarize(namespace, name, git, of.Claim), Steps: []Step{}, Conditions: []Condition{}, NodesList: []Node{}, Events: []Event{}, Upgrades: []string{}}
	if git.Overlay != nil {
		d.FileName = git.Overlay.File
	}
	if d.Spec != nil && git.Fleet != nil {
		d.Resources = plan.NeedOf(git.Fleet, d.Spec)
		d.Upgrades = Upgrades(d.Spec.Version, versions)
	}
	d.claim(git, of)
	for _, m := range of.Machines {
		n := nodeOf(m)
		if n.CPU == 0 && d.Spec != nil && git.Fleet != nil {
			n.asAsked(plan.Pools(git.Fleet, d.Spec))
		}
		d.NodesList = append(d.NodesList, n)
	}
	for _, e := range of.Events {
		d.Events = append(d.Events, Event{e.Time.UTC(), e.Type, e.Reason, e.Message, e.Kind + "/" + e.Name, e.Count})
	}
	return d
}

// claim tells what the live claim says.
func (d *Detail) claim(git Git, of *live.Cluster) {
	if of.Claim == nil {
		return
	}
	spec := d.Spec
	if spec == nil {
		spec = &of.Claim.Spec
	}
	w := way{Cluster: of, spec: spec, phase: d.Phase, commits: git.Commits}
	if git.Fleet != nil {
		w.pool = v1alpha1.ClusterPool(git.Fleet.Proxmox.WorkloadPool, d.Namespace, d.Name)
	}
	d.Steps = stepsOf(w)
	for _, c := range of.Claim.Status.Conditions {
		d.Conditions = append(d.Conditions, Condition{c.Type, string(c.Status), c.Reason, c.Message, c.LastTransitionTime.UTC()})
	}
	if a := of.Claim.Status.Allocation; a != nil {
		d.Allocation = &Allocation{a.Network, a.Addresses, IDRange{a.VMIDs.Start, a.VMIDs.End}}
	}
}

func nodeOf(m *live.Machine) Node {
	n := Node{Name: m.Name, Role: "worker", Pool: m.Pool, Version: m.Version, Ready: m.Ready(), Created: moment(m.Created)}
	if m.ControlPlane {
		n.Role = "control-plane"
	}
	if vm := m.VM; vm != nil {
		n.VMID, n.ProxmoxNode, n.Address = vm.ID, vm.Node, vm.Address
		n.CPU, n.MemoryBytes, n.DiskBytes = vm.CPU, vm.MemoryBytes, vm.DiskBytes
	}
	stands := standingOf(m)
	phase, message := stands.Stage, waitsOf(stands)
	n.Since = moment(stands.Since)
	switch {
	case !m.Leaving.IsZero():
		phase, message, n.Since = "Deleting", leavesOf(m), moment(m.Leaving)
	case stands.Terminal:
		phase = "Failed"
	}
	n.say(phase, message)
	return n
}

// asAsked says how large a machine without a VM is to be.
func (n *Node) asAsked(pools []plan.Pool) {
	for _, p := range pools {
		if p.Name == n.Pool {
			n.CPU, n.MemoryBytes, n.DiskBytes = p.Machine.CPU, p.Machine.MemoryBytes, p.Machine.DiskBytes
		}
	}
}
