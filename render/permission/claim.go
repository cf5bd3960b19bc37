package permission

import (
	"fmt"

	"kubehenge.dev/api/v1alpha1"
)

// Place is where on the Proxmox VE side a fleet lives.
type Place struct {
	// WorkloadPool is the pool above the clusters' pools.
	WorkloadPool string
	// Networks are the Fleet's, by name.
	Networks map[string]v1alpha1.Network
	// Zones are the SDN zones of VNets, by VNet. What is none of them is a bridge of the nodes, in the zone "localnetwork".
	Zones map[string]string
}

// PlaceOf is the place that a Fleet describes. Zones may be nil where the Fleet's networks are all on bridges.
func PlaceOf(fleet *v1alpha1.FleetSpec, zones map[string]string) Place {
	p := Place{WorkloadPool: fleet.Proxmox.WorkloadPool, Networks: map[string]v1alpha1.Network{}, Zones: zones}
	for _, n := range fleet.Networks {
		p.Networks[n.Name] = n
	}
	return p
}

// localZone is the zone that Proxmox VE puts the nodes' own bridges in (pve-access-control, check_sdn_bridge).
const localZone = "localnetwork"

func (p Place) workload() string { return "/pool/" + p.WorkloadPool }

func (p Place) pool(namespace, name string) string {
	return "/pool/" + v1alpha1.ClusterPool(p.WorkloadPool, namespace, name)
}

// network is the path of a bridge or VNet, and of the VLAN on it where there is one.
func (p Place) network(n v1alpha1.Network) string {
	zone, ok := p.Zones[n.Bridge]
	if !ok {
		zone = localZone
	}
	path := "/sdn/zones/" + zone + "/" + n.Bridge
	if n.VLAN != 0 {
		path = fmt.Sprintf("%s/%d", path, n.VLAN)
	}
	return path
}

// See is what seeing a cluster takes. Without it the cluster is answered for as if it were not there.
func (p Place) See(namespace, name string) Need {
	return Need{VMAudit, p.pool(namespace, name), fmt.Sprintf("seeing %s/%s", namespace, name)}
}

// Read is what reading the whole repository takes, since it shows every cluster.
func (p Place) Read() Need { return Need{VMAudit, p.workload(), "reading the repository"} }

// Administer is what everything takes that reaches further than one cluster; why says what it is.
func (p Place) Administer(why string) Need { return Need{SysModify, p.workload(), why} }

// Pass is what history takes in which a file came and went that is no cluster's: as much as making a cluster, which it may have been.
func (p Place) Pass(file string) Need {
	return Need{VMAllocate, p.workload(), "bringing " + file + " and taking it away again"}
}

// Kubeconfig is what the administrator's kubeconfig of a cluster takes.
func (p Place) Kubeconfig(namespace, name string) Need {
	return Need{SysModify, p.pool(namespace, name), fmt.Sprintf("downloading the kubeconfig of %s/%s", namespace, name)}
}

// Change is what changing a cluster takes: scale, upgrade, delete and everything else in its claim.
func (p Place) Change(namespace, name string) Need {
	return Need{VMAllocate, p.pool(namespace, name), fmt.Sprintf("changing %s/%s", namespace, name)}
}

// Create is what a new cluster takes. A storage or network that is not known yet is left out.
func (p Place) Create(c *v1alpha1.ClusterClaim) []Need {
	why := fmt.Sprintf("creating %s/%s", c.Namespace, c.Name)
	return append([]Need{{VMAllocate, p.workload(), why}}, p.uses(c, why)...)
}

// uses is what Proxmox VE asks of anybody who puts a machine on the claim's storage and network.
func (p Place) uses(c *v1alpha1.ClusterClaim, why string) []Need {
	return append(p.storage(c, why), p.bridge(c, why)...)
}

func (p Place) storage(c *v1alpha1.ClusterClaim, why string) []Need {
	if c.Spec.Storage == "" {
		return nil
	}
	return []Need{{AllocateSpace, "/storage/" + c.Spec.Storage, why}}
}

func (p Place) bridge(c *v1alpha1.ClusterClaim, why string) []Need {
	n, known := p.Networks[c.Spec.Network]
	if !known {
		return nil
	}
	return []Need{{SDNUse, p.network(n), why}}
}

// Claim is what a change of one claim takes, from what it was to what it is, both with their defaults; nil is none. A claim that stands as Deleted
// counts as none: what follows it is a new cluster. Claims that are alike count as changed: something else of the cluster's was.
func (p Place) Claim(before, after *v1alpha1.ClusterClaim) []Need {
	switch {
	case after != nil && !lives(before) && lives(after):
		return p.Create(after)
	case after == nil || after.Spec.State == v1alpha1.StateDeleted:
		gone := before
		if gone == nil {
			gone = after
		}
		if gone == nil {
			return nil
		}
		return []Need{{VMAllocate, p.pool(gone.Namespace, gone.Name), fmt.Sprintf("deleting %s/%s", gone.Namespace, gone.Name)}}
	}
	needs := []Need{p.Change(after.Namespace, after.Name)}
	why := needs[0].Why
	if before.Spec.Storage != after.Spec.Storage {
		needs = append(needs, p.storage(after, why)...)
	}
	if before.Spec.Network != after.Spec.Network {
		needs = append(needs, p.bridge(after, why)...)
	}
	return needs
}

func lives(c *v1alpha1.ClusterClaim) bool { return c != nil && c.Spec.State != v1alpha1.StateDeleted }
