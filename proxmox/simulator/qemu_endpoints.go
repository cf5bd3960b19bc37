package simulator

import "slices"

// qemuArea are the calls of virtual machines.
func qemuArea() []*Endpoint {
	return slices.Concat(guestEndpoints(), configEndpoints(), cloneEndpoints(), powerEndpoints(), agentEndpoints(), moveEndpoints(), cloudInitEndpoints(), vmMonitorEndpoints())
}
