// Package cluster answers for the cluster as a whole: its state, resources and options, and what is only kept for others to
// act on.
package cluster

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of the cluster as a whole.
func Endpoints() []*core.Endpoint {
	return slices.Concat(clusterEndpoints(), sectionEndpoints(), clusterConfigEndpoints(), syncJobEndpoints())
}
