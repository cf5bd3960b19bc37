// Package lxc answers for containers.
package lxc

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of containers.
func Endpoints() []*core.Endpoint {
	return slices.Concat(ctEndpoints(), ctCloneEndpoints())
}
