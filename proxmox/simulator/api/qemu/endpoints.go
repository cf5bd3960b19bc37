// Package qemu answers for virtual machines.
package qemu

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of virtual machines.
func Endpoints() []*core.Endpoint {
	return slices.Concat(guestEndpoints(), configEndpoints(), cloneEndpoints(), powerEndpoints(), agentEndpoints(), moveEndpoints(), cloudInitEndpoints(), vmMonitorEndpoints())
}
