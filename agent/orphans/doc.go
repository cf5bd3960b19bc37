// Package orphans answers: which VMs are a cluster's by pool, tag or VMID, and belong to no machine? And how do they go?
//
// They are what a deletion that went wrong leaves: a VM that the provider took for gone, a task that failed. Nothing
// removes them by itself. After some minutes they are listed at the claim, in its sentence and in an annotation
// (watch.go). `kubehenge gc` shows that list to a person (command.go), and writes the VMIDs that the person confirmed
// into another annotation; of those alone, what is still nobody's is taken out of HA, stopped and deleted (collect.go).
//
// VMs of a cluster that this management cluster has given no VMIDs to are an earlier one's: they are not looked at.
package orphans
