package simulator

import "slices"

// storageArea are the calls of storages and what is on them.
func storageArea() []*Endpoint {
	return slices.Concat(storageEndpoints(), contentEndpoints(), applianceEndpoints())
}
