package vm

import "sort"

// Report is what a machine is doing, for people and tests that look into the simulation.
type Report struct {
	VMID      int    `json:"vmid"`
	Name      string `json:"name"`
	Running   bool   `json:"running"`             // switched on
	Agent     bool   `json:"agent"`               // its guest agent answers
	CloudInit State  `json:"cloudInit,omitempty"` // empty until cloud-init has begun
	Reason    string `json:"reason,omitempty"`    // why cloud-init failed, or the machine does not boot
	Cluster   string `json:"cluster,omitempty"`   // endpoint of the cluster it is part of
	Node      string `json:"node,omitempty"`      // its name there
}

// Report describes every machine, sorted by VMID.
func (m *Machines) Report() []Report {
	m.mu.Lock()
	all := make([]*machine, 0, len(m.byID))
	for _, vm := range m.byID {
		all = append(all, vm)
	}
	m.mu.Unlock()
	reports := make([]Report, 0, len(all))
	for _, vm := range all {
		reports = append(reports, vm.report())
	}
	sort.Slice(reports, func(a, b int) bool { return reports[a].VMID < reports[b].VMID })
	return reports
}

func (vm *machine) report() Report {
	vm.mu.Lock()
	defer vm.mu.Unlock()
	r := Report{
		VMID: vm.guest.VMID, Name: vm.guest.Name, Running: vm.power != nil, Agent: vm.agent, CloudInit: vm.state, Reason: vm.reason,
	}
	if vm.joined.Cluster != nil {
		r.Cluster, r.Node = vm.joined.Cluster.Endpoint(), vm.joined.Node
	}
	return r
}
