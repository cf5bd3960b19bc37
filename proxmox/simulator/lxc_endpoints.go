package simulator

import "slices"

// lxcArea are the calls of containers.
func lxcArea() []*Endpoint {
	return slices.Concat(ctEndpoints(), ctCloneEndpoints())
}
