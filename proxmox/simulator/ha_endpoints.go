package simulator

import "slices"

// haArea are the calls of the HA manager.
func haArea() []*Endpoint {
	return slices.Concat(haEndpoints(), ruleEndpoints(), groupEndpoints())
}
