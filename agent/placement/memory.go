package placement

import (
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// freeMemory is how much of each node's memory is not spoken for, in bytes.
//
// A node's spoken-for memory is the sum of what its guests are configured with, or what it uses, whichever is more:
// the sum leaves out guests that the token may not see, and the use leaves out what running guests have not touched
// yet. A guest counts while it runs; one that is stopped counts if it is ours, since then it is about to be started.
// Other people's stopped guests do not count, or nodes that keep many would never take a machine
// (https://github.com/ionos-cloud/cluster-api-provider-proxmox/issues/71); should they be started, the next look sees it.
func freeMemory(nodes []proxmox.Node, guests []proxmox.Machine) map[string]int64 {
	spoken := map[string]int64{}
	for i := range guests {
		if counts(&guests[i]) {
			spoken[guests[i].Node] += guests[i].MemoryBytes
		}
	}
	free := make(map[string]int64, len(nodes))
	for _, n := range nodes {
		free[n.Name] = max(0, n.MemoryBytes-max(spoken[n.Name], n.MemoryUsedBytes))
	}
	return free
}

func counts(m *proxmox.Machine) bool {
	switch {
	case m.Template, slices.Contains(m.Tags, v1alpha1.VolumesTag):
		return false // never started
	case m.Status != "stopped":
		return true
	}
	return slices.ContainsFunc(m.Tags, func(tag string) bool { return strings.EqualFold(tag, v1alpha1.Tag) })
}
