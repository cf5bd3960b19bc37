// Package permission answers: which privileges of Proxmox VE does a change ask for? It is pure: the appliance's buttons, the check of a push and the
// review of a change ask the same rules, and only the caller knows what somebody holds.
//
// The rules follow what Proxmox VE itself asks of people who make virtual machines: each cluster has a pool below the workload pool, creating one takes
// VM.Allocate on the workload pool, space on a storage and the use of a bridge, and what belongs to a cluster takes privileges on its pool. What reaches
// further than one cluster takes Sys.Modify on the workload pool.
package permission
