// Package placement answers: which Proxmox VE nodes may take a cluster's machines now, and is there a VM template of
// its version?
//
// capmox places nothing while one node of its list does not answer, puts a VM onto its template's node when there is
// no list, and counts only the memory of guests that its token may see. So the leader looks at all nodes and guests
// with one call (Watch), decides for each cluster (decide), and writes what it found to the Cluster's annotations
// (Reconciler), from where the hooks answer Cluster API, and to the Fleet's status which versions there are. The list reaches the cluster's own object alone, never a
// template of machines, so no machine is replaced because a node came or went.
package placement
