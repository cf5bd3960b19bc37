package simulator

import "slices"

// clusterArea are the calls of the cluster as a whole.
func clusterArea() []*Endpoint {
	return slices.Concat(clusterEndpoints(), sectionEndpoints(), clusterConfigEndpoints(), syncJobEndpoints())
}
