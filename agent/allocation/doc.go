// Package allocation answers which node addresses and VMIDs a cluster may use.
//
// The Proxmox VE provider makes one address pool a cluster and checks it against no other, so two clusters with the
// same range would share addresses. The agent's leader therefore gives every cluster a slice of its network's node
// addresses (its nodes plus what a rolling update needs at once; it grows and never shrinks) and a block of 100
// VMIDs, disjoint from every other cluster's.
//
// The allocation is written into the comment of the cluster's pool in Proxmox VE before anything uses it, so that it
// outlives the management cluster; one GET /pools tells all allocations. Planning (plan.go) is pure; Allocator reads
// again before it writes, and again after it.
package allocation
