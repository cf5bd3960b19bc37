package simulator

import (
	"slices"
	"sync"
)

// endpoints is the table of all that is served.
var endpoints = sync.OnceValue(func() []*Endpoint {
	return slices.Concat(accessArea(), clusterArea(), nodesArea(), guestArea(), qemuArea(), lxcArea(), storageArea(), poolEndpoints(), haArea(), sdnEndpoints(),
		firewallEndpoints(), backupArea(), replicationEndpoints())
})
