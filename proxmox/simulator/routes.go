package simulator

import (
	"slices"
	"sync"

	"kubehenge.dev/proxmox/simulator/api/access"
	"kubehenge.dev/proxmox/simulator/api/backup"
	"kubehenge.dev/proxmox/simulator/api/cluster"
	"kubehenge.dev/proxmox/simulator/api/firewall"
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/api/ha"
	"kubehenge.dev/proxmox/simulator/api/lxc"
	"kubehenge.dev/proxmox/simulator/api/nodes"
	"kubehenge.dev/proxmox/simulator/api/pools"
	"kubehenge.dev/proxmox/simulator/api/qemu"
	"kubehenge.dev/proxmox/simulator/api/replication"
	"kubehenge.dev/proxmox/simulator/api/sdn"
	"kubehenge.dev/proxmox/simulator/api/storage"
	"kubehenge.dev/proxmox/simulator/core"
)

// endpoints is the table of all that is served.
var endpoints = sync.OnceValue(func() []*core.Endpoint {
	return slices.Concat(access.Endpoints(), cluster.Endpoints(), nodes.Endpoints(), guest.Endpoints(), qemu.Endpoints(), lxc.Endpoints(),
		storage.Endpoints(), pools.Endpoints(), ha.Endpoints(), sdn.Endpoints(), firewall.Endpoints(), backup.Endpoints(), replication.Endpoints())
})
