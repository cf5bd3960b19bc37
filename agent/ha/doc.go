// Package ha answers: which control-plane VMs does Proxmox VE's HA manager look after, by which rules, and how do
// Cluster API and its provider survive that it moves them?
//
// A round looks at all clusters. With the Fleet's proxmox.ha, each joined control-plane VM of a cluster on shared
// storage is an HA resource; a rule keeps them apart, and another on the nodes that the cluster may use (rules.go).
// Machines in HA, and those whose VM has moved, carry a pre-terminate hook, for two reasons. Proxmox VE refuses to
// delete a VM that is in HA. And capmox deletes a VM on the node that it recorded, taking a VM that has moved for
// gone, and so leaving it running: the mark kubehenge.dev/proxmox-node on the ProxmoxMachine has it look again, and the
// hook stays until it has.
//
// What is to be done is a plan, a pure function of what one look sees (plan.go), carried out by the named steps of
// steps.go. Nothing is remembered between rounds but for how long a VM has been out of HA.
package ha
