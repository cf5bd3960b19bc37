package placement

import "kubehenge.dev/proxmox"

// FreeMemory is how much of each node's memory is not spoken for, in bytes, by the rule that machines are placed by.
func FreeMemory(nodes []proxmox.Node, guests []proxmox.Machine) map[string]int64 {
	return freeMemory(nodes, guests)
}
