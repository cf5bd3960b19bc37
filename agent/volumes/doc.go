// Package volumes answers how the volumes of a cluster end: those of released PersistentVolumes while the cluster lives,
// and all of them when it goes.
//
// The Proxmox CSI plugin deletes a volume through its storage, which Proxmox VE allows only with Datastore.Allocate, a
// right over every volume there. So the agent deletes it first, as an unused disk of the VM that owns the cluster's
// volumes, which takes no more than VM.Config.Disk on that VM and Datastore.AllocateSpace; the plugin then finds the
// volume gone and completes. Proxmox VE deletes an unused disk on the node that the VM is on, so for a volume that only
// another node has the owner VM is moved there first. It has no disks, so only its configuration moves.
//
// What a workload cluster says is hostile input. Release (release.go) acts for a PersistentVolume only with the
// cluster's own token, on a volume that this token was shown as the owner VM's, and so can harm nobody else. Drain
// (drain.go) asks the workload cluster nothing, and works with the agent's token.
//
// Which workload clusters are asked, and how often: one survey of the storages, a call for each shared one and for each
// node's local ones, tells which owner VMs own anything; only those clusters are asked for their PersistentVolumes,
// over connections that are kept for the latest few. So the calls to Proxmox VE grow with nodes and storages, and a
// cluster without volumes costs nothing.
package volumes
