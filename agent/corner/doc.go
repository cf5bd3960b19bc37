// Package corner answers which part of Proxmox VE a cluster has to itself, and how its credentials reach it.
//
// A cluster's corner is its pool below the workload pool (package allocation makes it), a user with a token whose
// rights end at that pool, and a VM that is never started and owns the cluster's volumes. It is made before Cluster API
// makes the first machine, put back when somebody changes it, and removed once Proxmox VE itself shows no VM of the
// cluster any more.
//
// The token reaches the cluster through a Secret and a ClusterResourceSet of the management cluster, whose strategy
// Reconcile follows a rotation. A rotation makes the second token before the first one goes, so that the cluster is
// never without.
//
// Everything is a list of named steps. Each step looks into the same bulk lists (lists.go), which are read once for all
// clusters, says what is missing, and acts only then. So a corner that is as it should be costs no call, and a crash at
// any moment is made good by the next run.
package corner
