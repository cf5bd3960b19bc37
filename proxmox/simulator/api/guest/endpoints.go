// Package guest is what machines and containers have alike: privileges, reading, power, snapshots, migration and deletion.
package guest

import "kubehenge.dev/proxmox/simulator/core"

// Endpoints are the calls that machines and containers have alike.
func Endpoints() []*core.Endpoint {
	return snapshotEndpoints()
}
