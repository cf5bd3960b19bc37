// Package hooks answers: may Cluster API go on with a cluster, and what does it put into its topology?
//
// Cluster API asks before it creates, upgrades and deletes a cluster, and whenever it computes a cluster's objects
// (Runtime SDK, https://cluster-api.sigs.k8s.io/tasks/experimental-features/runtime-sdk/). Every replica of the agent
// answers, from the request alone: what is asked about stands in the Cluster's annotations, where the leader's other
// parts write it. So a replica that has just started answers like one that leads, the same request always gets the
// same answer, and nothing is kept here that could be lost.
package hooks
