// Package proxmox is how Proxmox VE is made ready for Kubehenge, and how it is told whether it still is.
//
// prepare makes the roles, the clusters' group, the pools, the users, their tokens and rights that proxmox/access lists,
// for the pools, storages and networks that the Fleet names. It is a list of named steps (steps.go); each compares what
// is wanted with what was seen, and does no more than is missing, so that it can be run again after any interruption.
// It takes nothing away but privileges that its own roles should not have.
//
// check reads the same and changes nothing: a list of named checks (checks.go), each of which names what is missing,
// what is too much and what will not work.
package proxmox
