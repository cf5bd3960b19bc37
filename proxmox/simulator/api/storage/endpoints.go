// Package storage answers for storages and what is on them: volumes, uploads, downloads and templates.
package storage

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of storages and what is on them.
func Endpoints() []*core.Endpoint {
	return slices.Concat(storageEndpoints(), contentEndpoints(), applianceEndpoints())
}
