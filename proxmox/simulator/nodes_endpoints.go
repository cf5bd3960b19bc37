package simulator

import "slices"

// nodesArea are the calls of nodes, their tasks and consoles.
func nodesArea() []*endpoint {
	return slices.Concat(nodeEndpoints(), taskEndpoints(), consoleEndpoints(), historyEndpoints(), networkEndpoints(), systemEndpoints(), bulkEndpoints())
}
