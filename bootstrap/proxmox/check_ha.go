package proxmox

import "slices"

// checkHA says why high availability would not work. It only matters where the Fleet wants it.
func checkHA(s *state, f *findings) {
	if !s.place.HA {
		return
	}
	if len(s.nodes) < 3 {
		f.wrong("switch proxmox.ha off in clusters/fleet.yaml, or add nodes", "high availability takes a Proxmox VE cluster of three nodes, and there are %d", len(s.nodes))
		return
	}
	shared := func(name string) bool { return s.storages[name].Shared }
	if !slices.ContainsFunc(s.place.Disks, shared) {
		f.wrong("switch proxmox.ha off in clusters/fleet.yaml, or use a shared storage", "high availability moves only VMs whose disks are on shared storage, and none of the Fleet's storages is shared")
	}
	for _, n := range s.nodes {
		if len(s.haNodes) > 0 && !slices.Contains(s.haNodes, n.Name) {
			f.wrong("see that pve-ha-lrm and pve-ha-crm run there", "node %s is not known to the HA manager", n.Name)
		}
	}
}
