package plan

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"kubehenge.dev/api/v1alpha1"
)

// Need is what a cluster takes in all.
type Need struct {
	// VMs are its machines.
	VMs int `json:"vms"`
	// CPU are their virtual CPUs.
	CPU int64 `json:"cpu"`
	// MemoryBytes and DiskBytes are their memory and disks.
	MemoryBytes int64 `json:"memoryBytes"`
	DiskBytes   int64 `json:"diskBytes"`
	// Addresses are those of its machines and of those that a rollout may add for a while; 0 where that is not known.
	Addresses int `json:"addresses,omitempty"`
}

// Pool is a group of machines of one size.
type Pool struct {
	// Name is empty for the control plane.
	Name string
	// Replicas is how many are wanted.
	Replicas int
	// Machine is how large each is.
	Machine Machine
}

// Machine is how large a machine is.
type Machine struct {
	CPU                    int64
	MemoryBytes, DiskBytes int64
}

// Pools are a claim's groups of machines, the control plane first. A size that the Fleet does not have counts as nothing.
func Pools(fleet *v1alpha1.FleetSpec, spec *v1alpha1.ClusterClaimSpec) []Pool {
	if spec.State == v1alpha1.StateDeleted {
		return nil
	}
	pools := []Pool{{"", int(spec.ControlPlane.Replicas), machineOf(fleet, spec.ControlPlane.MachineSize)}}
	if w := spec.Workers; w != nil {
		pools = append(pools, Pool{"workers", int(w.Replicas), machineOf(fleet, w.MachineSize)})
	}
	for _, p := range spec.Pools {
		pools = append(pools, Pool{p.Name, int(p.Replicas), machineOf(fleet, p.MachineSize)})
	}
	return pools
}

func machineOf(fleet *v1alpha1.FleetSpec, size v1alpha1.MachineSize) Machine {
	cpu, memory, disk := size.CPU, size.Memory, size.Disk
	for _, s := range fleet.Sizes {
		if s.Name == size.Size {
			cpu, memory, disk = s.CPU, s.Memory, s.Disk
		}
	}
	return Machine{int64(cpu), bytes(memory), bytes(disk)}
}

// bytes is a quantity such as 4Gi; 0 for what is none.
func bytes(text string) int64 {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return 0
	}
	return q.Value()
}

// NeedOf is what a claim takes: nothing once it is Deleted. Addresses are left open.
func NeedOf(fleet *v1alpha1.FleetSpec, spec *v1alpha1.ClusterClaimSpec) Need {
	var n Need
	for _, p := range Pools(fleet, spec) {
		n.VMs += p.Replicas
		n.CPU += int64(p.Replicas) * p.Machine.CPU
		n.MemoryBytes += int64(p.Replicas) * p.Machine.MemoryBytes
		n.DiskBytes += int64(p.Replicas) * p.Machine.DiskBytes
	}
	return n
}
