// Package lab answers: how does all of Kubehenge run on one machine, without containers or virtualisation?
//
// A lab is a simulated Proxmox VE and a Git server in this process, and as children a real etcd, kube-apiserver and
// controller-manager, the real Cluster API providers, a stand-in for the Proxmox VE provider, what runs inside the
// simulated VMs, and the agent. All of it is on addresses of its own, 127.<index>.0.0/16.
package lab
