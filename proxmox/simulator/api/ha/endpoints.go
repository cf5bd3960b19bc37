// Package ha answers for HA resources, rules and groups, and is the HA manager: one cycle of it is Manage.
package ha

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of the HA manager.
func Endpoints() []*core.Endpoint {
	return slices.Concat(haEndpoints(), ruleEndpoints(), groupEndpoints())
}
