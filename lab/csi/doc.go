// Package csi plays the Proxmox CSI plugin's controller of a workload cluster, with the sidecars that call it: it
// provisions claims, attaches and detaches volumes, and deletes the volumes of released PersistentVolumes. It makes the
// calls that the real ones make, with the cluster's own token.
//
// Claims are bound, volumes released and attachments asked for by kube-controller-manager, which only clusters of real
// guests have; light guests serve no PersistentVolumes, and it finds nothing to do there.
//
// Source: proxmox-csi-plugin v0.19 pkg/csi/controller.go and utils.go; kubernetes-csi external-provisioner and
// external-attacher; chart proxmox-csi-plugin.
package csi
