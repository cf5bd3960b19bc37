// Package backup answers for backup jobs, runs them when they are due, and has what restoring machines and containers has in
// common.
package backup

import (
	"slices"

	"kubehenge.dev/proxmox/simulator/core"
)

// Endpoints are the calls of backups and their jobs.
func Endpoints() []*core.Endpoint {
	return slices.Concat(backupEndpoints(), dumpEndpoints())
}
