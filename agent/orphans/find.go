package orphans

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// sight is everything that the search looks at.
type sight struct {
	workloadPool string
	claims       []v1alpha1.ClusterClaim
	clusters     map[types.NamespacedName]*machines.Cluster
	guests       []proxmox.Machine
}

// exemption is a named reason why a VM of a cluster's is no orphan.
type exemption struct {
	name  string
	holds func(*sight, *v1alpha1.ClusterClaim, proxmox.Machine) bool
}

// exemptions are asked in this order; any that holds makes the VM none.
var exemptions = []exemption{
	{"templates are not machines", func(_ *sight, _ *v1alpha1.ClusterClaim, g proxmox.Machine) bool {
		return g.Template || g.Type != "qemu"
	}},
	{"it owns the cluster's volumes", func(_ *sight, c *v1alpha1.ClusterClaim, g proxmox.Machine) bool {
		return slices.Contains(g.Tags, v1alpha1.VolumesTag) || g.VMID == int(c.Status.Allocation.VMIDs.End)
	}},
	{"a machine has its VMID", func(s *sight, _ *v1alpha1.ClusterClaim, g proxmox.Machine) bool {
		return s.anyMachine(func(vm machines.VM) bool { return vm.ID == g.VMID })
	}},
	// The provider notes the VMID only after the clone call; the name is the machine's from the beginning.
	{"a machine of the cluster has its name", func(s *sight, c *v1alpha1.ClusterClaim, g proxmox.Machine) bool {
		cluster := s.clusters[types.NamespacedName{Namespace: c.Namespace, Name: c.Name}]
		return g.Name != "" && cluster != nil && anyOf(cluster, func(vm machines.VM) bool { return vm.Name == g.Name })
	}},
}

func (s *sight) anyMachine(is func(machines.VM) bool) bool {
	for _, c := range s.clusters {
		if anyOf(c, is) {
			return true
		}
	}
	return false
}

func anyOf(c *machines.Cluster, is func(machines.VM) bool) bool {
	return slices.ContainsFunc(c.Machines, func(m *machines.Machine) bool { return is(m.VM) }) || slices.ContainsFunc(c.Strays, is)
}

// find is the VMs that belong to no machine, by claim.
func (s *sight) find() map[types.NamespacedName][]proxmox.Machine {
	found := map[types.NamespacedName][]proxmox.Machine{}
	for i := range s.claims {
		c := &s.claims[i]
		if c.Status.Allocation == nil {
			continue
		}
		key := types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
		for _, g := range s.guests {
			if s.belongs(c, g) && !s.exempt(c, g) {
				found[key] = append(found[key], g)
			}
		}
		slices.SortFunc(found[key], func(a, b proxmox.Machine) int { return cmp.Compare(a.VMID, b.VMID) })
	}
	return found
}

// belongs is true for a guest that is the cluster's by pool, tag or VMID.
func (s *sight) belongs(c *v1alpha1.ClusterClaim, g proxmox.Machine) bool {
	ids := c.Status.Allocation.VMIDs
	return g.Pool == v1alpha1.ClusterPool(s.workloadPool, c.Namespace, c.Name) ||
		slices.Contains(g.Tags, v1alpha1.ClusterTag(c.Namespace, c.Name)) ||
		int(ids.Start) <= g.VMID && g.VMID <= int(ids.End)
}

func (s *sight) exempt(c *v1alpha1.ClusterClaim, g proxmox.Machine) bool {
	return slices.ContainsFunc(exemptions, func(e exemption) bool { return e.holds(s, c, g) })
}
