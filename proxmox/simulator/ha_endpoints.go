package simulator

import "slices"

// haArea are the calls of the HA manager.
func haArea() []*endpoint {
	return slices.Concat(haEndpoints(), ruleEndpoints(), groupEndpoints())
}
