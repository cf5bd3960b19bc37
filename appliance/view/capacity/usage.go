package capacity

import (
	"cmp"
	"slices"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/plan"
)

// Usage is what the clusters of a namespace take, as Git wants it.
type Usage struct {
	Namespace string `json:"namespace"`
	// Clusters are those that are not Deleted; only what the person may see is counted.
	Clusters    int   `json:"clusters"`
	VMs         int   `json:"vms"`
	CPU         int64 `json:"cpu"`
	MemoryBytes int64 `json:"memoryBytes"`
	DiskBytes   int64 `json:"diskBytes"`
}

// UsageOf sums up what claims take by namespace, those with the most memory first.
func UsageOf(spec *v1alpha1.FleetSpec, claims []*v1alpha1.ClusterClaim) []Usage {
	sums := map[string]*Usage{}
	for _, c := range claims {
		need := plan.NeedOf(spec, &c.Spec)
		if need.VMs == 0 {
			continue
		}
		u := sums[c.Namespace]
		if u == nil {
			u = &Usage{Namespace: c.Namespace}
			sums[c.Namespace] = u
		}
		u.Clusters++
		u.VMs += need.VMs
		u.CPU += need.CPU
		u.MemoryBytes += need.MemoryBytes
		u.DiskBytes += need.DiskBytes
	}
	list := make([]Usage, 0, len(sums))
	for _, u := range sums {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b Usage) int {
		return cmp.Or(cmp.Compare(b.MemoryBytes, a.MemoryBytes), cmp.Compare(a.Namespace, b.Namespace))
	})
	return list
}
