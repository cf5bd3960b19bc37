package access

import "kubehenge.dev/proxmox"

// cluster is what a workload cluster's cloud controller manager and CSI plugin need. A token with privilege separation
// does not inherit what its user has through the group, so each token has both roles itself; the user has the second
// through the group. The storages are reached through the workload pool that they are members of: an entry on a
// storage itself only somebody with Datastore.Allocate there may make, which the agent is not to have.
var cluster = []Grant{
	{
		Role: ClusterRole, Propagate: true, Paths: func(p Place) []string { return []string{"/pool/" + p.ClusterPool} },
		Needs: []Need{
			{"VM.Audit", "GET /nodes/{node}/qemu/{vmid}/status/current", "the cloud controller manager finds its machines, and sees whether they run"},
			{"VM.Config.Disk", "POST /nodes/{node}/qemu/{vmid}/config", "the CSI plugin attaches and detaches volumes, and lists its own"},
		},
	},
	{
		Role: SharedRole, Paths: pool(workloadPool),
		Needs: []Need{
			{"Datastore.AllocateSpace", "POST /nodes/{node}/storage/{storage}/content", "the CSI plugin makes volumes"},
			{"Datastore.Audit", "GET /cluster/resources", "the CSI plugin finds the storage, and lists its own volumes there"},
		},
	},
}

// ClusterEntries are the ACL entries that a cluster's user has, and those that each of its tokens has.
func ClusterEntries(workloadPool, clusterPool, user, token string) (ofUser, ofToken []proxmox.Grant) {
	place := Place{WorkloadPool: workloadPool, ClusterPool: clusterPool}
	for _, g := range Clusters {
		for _, path := range g.Paths(place) {
			entry := proxmox.Grant{Path: path, Role: g.Role, Kind: proxmox.GrantToken, To: token, Propagate: g.Propagate}
			ofToken = append(ofToken, entry)
			if g.Role == ClusterRole { // the other comes through the group
				entry.Kind, entry.To = proxmox.GrantUser, user
				ofUser = append(ofUser, entry)
			}
		}
	}
	return ofUser, ofToken
}
