package simulator

import "slices"

// nodesArea are the calls of nodes, their tasks and consoles.
func nodesArea() []*Endpoint {
	return slices.Concat(nodeEndpoints(), taskEndpoints(), consoleEndpoints(), historyEndpoints(), networkEndpoints(), systemEndpoints(), bulkEndpoints())
}
