package simulator

import "slices"

// backupArea are the calls of backups and their jobs.
func backupArea() []*Endpoint {
	return slices.Concat(backupEndpoints(), dumpEndpoints())
}
