package fleet

import (
	"math"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render"
	"kubehenge.dev/render/address"
)

// Claims are live claims by namespace and name.
type Claims = map[types.NamespacedName]*live.Claim

// Network is one of the Fleet's networks and how full it is.
type Network struct {
	Name    string `json:"name"`
	Bridge  string `json:"bridge"`
	VLAN    int32  `json:"vlan,omitempty"`
	Subnet  string `json:"subnet"`
	Gateway string `json:"gateway"`
	// Nodes are the addresses for machines, Endpoints those for control planes.
	Nodes     Addresses `json:"nodes"`
	Endpoints Endpoints `json:"endpoints"`
}

// Addresses counts addresses: used are those that are reserved for clusters, or asked for in Git.
type Addresses struct {
	Total int `json:"total"`
	Used  int `json:"used"`
	Free  int `json:"free"`
}

// Endpoints counts endpoints, and names the next free one.
type Endpoints struct {
	Addresses
	Next string `json:"next,omitempty"`
}

// Networks are the Fleet's networks. All clusters count, also those that the person does not see: how full a network is is nobody's secret.
func Networks(fleet *v1alpha1.FleetSpec, overlays []*render.Overlay, claims Claims) []Network {
	used, taken := map[string]int{}, map[string]map[string]bool{}
	for _, o := range overlays {
		if o.Claim == nil {
			continue
		}
		network := o.Claim.Spec.Network
		if taken[network] == nil {
			taken[network] = map[string]bool{}
		}
		taken[network][o.Claim.Spec.Endpoint] = true
		if reserved(claims[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}]) == nil {
			used[network] += o.Need.Addresses()
		}
	}
	for _, c := range claims {
		if a := reserved(c); a != nil {
			used[a.Network] += Count(a.Addresses)
		}
	}
	list := make([]Network, len(fleet.Networks))
	for i, n := range fleet.Networks {
		list[i] = networkOf(n, used[n.Name], taken[n.Name])
	}
	return list
}

// reserved is what the agent keeps for a cluster; nil where that is nothing, or not known.
func reserved(c *live.Claim) *v1alpha1.Allocation {
	if c == nil || c.Status.Allocation == nil || len(c.Status.Allocation.Addresses) == 0 {
		return nil
	}
	return c.Status.Allocation
}

func networkOf(n v1alpha1.Network, used int, taken map[string]bool) Network {
	v := Network{Name: n.Name, Bridge: n.Bridge, VLAN: n.VLAN, Subnet: n.Subnet, Gateway: n.Gateway}
	v.Nodes = addresses(Count(n.Nodes), used)
	v.Endpoints = Endpoints{addresses(Count(n.Endpoints), len(taken)), next(n.Endpoints, taken)}
	return v
}

func addresses(total, used int) Addresses { return Addresses{total, used, max(0, total-used)} }

// Count is the number of addresses in ranges, at most math.MaxInt32.
func Count(ranges []string) int {
	n := int64(0)
	for _, text := range ranges {
		if r, err := address.Parse(text); err == nil {
			if c := r.Count(); c.IsInt64() {
				n += min(c.Int64(), math.MaxInt32)
			} else {
				n += math.MaxInt32
			}
		}
	}
	return int(min(n, math.MaxInt32))
}

// next is the first address that is not taken; empty where all are.
func next(ranges []string, taken map[string]bool) string {
	for _, text := range ranges {
		r, err := address.Parse(text)
		if err != nil {
			continue
		}
		for a := r.First; a.IsValid() && !r.Last.Less(a); a = a.Next() {
			if !taken[a.String()] {
				return a.String()
			}
		}
	}
	return ""
}
