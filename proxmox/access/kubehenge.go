package access

import (
	"slices"
	"strings"
)

// Place is where on the Proxmox VE side Kubehenge lives: what the paths of its ACL entries are made of.
type Place struct {
	// WorkloadPool is the pool above the pools of all clusters. The storages of the machines' disks and of the
	// clusters' volumes are members of it, which lends them its ACL entries.
	WorkloadPool string
	// TemplatePool is the pool of the VM templates.
	TemplatePool string
	// Disks are the storages of the machines' disks and of the clusters' volumes.
	Disks []string
	// ISO is the storage of the bootstrap ISOs, which holds nothing else.
	ISO string
	// Bridges are SDN paths below /sdn/zones: "localnetwork/vmbr0", "localnetwork/vmbr0/40" for one VLAN, "zone/vnet".
	Bridges []string
	// HA is true where Proxmox VE's HA manager is to look after control planes.
	HA bool
	// ClusterPool is the pool of one cluster; only for the grants of clusters.
	ClusterPool string
}

// Need is one privilege, and the call that fails without it.
type Need struct {
	// Privilege is its name in 9.x.
	Privilege string
	// Call is the call that fails, or that shows nothing, without it: method and route.
	Call string
	// Why is what the call is for.
	Why string
}

// In is the privilege's name in a version: 8.4 has one privilege for all that concerns the guest agent.
func (n Need) In(v Version) string {
	if v == V8 && strings.HasPrefix(n.Privilege, "VM.GuestAgent.") {
		return "VM.Monitor"
	}
	return n.Privilege
}

// Grant is a role of Kubehenge's and the paths on which somebody has it. Where there is a token, its user has the same:
// tokens have privilege separation, so that what a token may do is what both may. There is one role a path, since a
// role's privileges count wherever it is given: Datastore.Allocate on the disks' storage would let the provider delete
// any disk there.
type Grant struct {
	// Role is the role's name.
	Role string
	// User and Token are who has it; empty for a role of clusters, whose users are made one by one.
	User, Token string
	// Paths are where.
	Paths func(Place) []string
	// Propagate is true where it counts below the paths too.
	Propagate bool
	// Needs are its privileges.
	Needs []Need
}

// Privileges of the grant's role, sorted.
func (g Grant) Privileges(v Version) []string {
	var list []string
	for _, n := range g.Needs {
		if p := n.In(v); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return sorted(list)
}

// Grants are the grants of the users that exist once. Each line is proven by a test that takes the privilege away and
// repeats the call.
var Grants = slices.Concat(provider, agent, ha, appliance)

// Clusters are the grants of each cluster's user and token.
var Clusters = cluster

// For are the grants that a place has: those of HA only where it is switched on.
func For(p Place) []Grant {
	return slices.DeleteFunc(slices.Clone(Grants), func(g Grant) bool { return g.User == HAUser && !p.HA })
}

func pool(name func(Place) string) func(Place) []string {
	return func(p Place) []string { return []string{"/pool/" + name(p)} }
}

func workloadPool(p Place) string { return p.WorkloadPool }
func templatePool(p Place) string { return p.TemplatePool }

func at(path string) func(Place) []string { return func(Place) []string { return []string{path} } }

func below(prefix string, names []string) []string {
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = prefix + n
	}
	return paths
}
