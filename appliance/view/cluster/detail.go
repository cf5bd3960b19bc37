package cluster

import (
	"kubehenge.dev/agent/status"
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
	d.claim(of)
	for _, m := range of.Machines {
		d.NodesList = append(d.NodesList, nodeOf(m))
	}
	for _, e := range of.Events {
		d.Events = append(d.Events, Event{e.Time.UTC(), e.Type, e.Reason, e.Message, e.Kind + "/" + e.Name, e.Count})
	}
	return d
}

// claim tells what the live claim says.
func (d *Detail) claim(of *live.Cluster) {
	if of.Claim == nil {
		return
	}
	spec := d.Spec
	if spec == nil {
		spec = &of.Claim.Spec
	}
	d.Steps = stepsOf(way{of, spec, d.Phase})
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
	vm := m.VM
	if vm == nil {
		vm = &live.VM{}
	}
	n.VMID, n.ProxmoxNode, n.Address = vm.ID, vm.Node, vm.Address
	stands := status.Stand(m.Created, m.Joined, m.NodeReady, vm.Provisioned)
	phase, message := stands.Stage, waitsOf(stands)
	n.Since = moment(stands.Since)
	switch {
	case !m.Leaving.IsZero():
		phase, message, n.Since = "Deleting", nodeDeleted.With(nil), moment(m.Leaving)
		if m.Draining {
			message = nodeDrained.With(nil)
		}
	case stands.Terminal:
		phase = "Failed"
	}
	n.say(phase, message)
	return n
}
