// Package remedy answers: which machines are stuck where the provider never gets them out, and may they be replaced?
//
// Every quarter of a minute a round looks at all machines and at Proxmox VE's one list of guests. A machine that has
// not joined is held against a chain of named ailments (ailments.go); what is found is told in the claim's sentence.
// A second chain (hindrances.go) says why a replacement has to wait: one at a time in a cluster, never at the cost
// of the control plane's quorum, and ever more rarely while the same ailment comes back. A replacement is a mark on
// the Machine that Cluster API's health check and the machine's owner act on (steps.go).
//
// Beside them it tells of VMs that somebody took out of their pool (astray.go), and lets machines go whose VMs were lost
// with a node (lost.go).
package remedy
