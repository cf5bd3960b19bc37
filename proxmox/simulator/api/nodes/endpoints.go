// Package nodes answers for nodes: their state, networks, systems, tasks, consoles and figures of the past.
package nodes

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of nodes, their tasks and consoles.
func Endpoints() []*core.Endpoint {
	return slices.Concat(nodeEndpoints(), taskEndpoints(), consoleEndpoints(), historyEndpoints(), networkEndpoints(), systemEndpoints(), bulkEndpoints())
}
