package simulator

import "slices"

// lxcArea are the calls of containers.
func lxcArea() []*endpoint {
	return slices.Concat(ctEndpoints(), ctCloneEndpoints())
}
