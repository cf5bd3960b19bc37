package volumes

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Cluster says which cluster's volumes are meant.
type Cluster struct {
	// NamespacedName is the claim's.
	types.NamespacedName
	// WorkloadPool is the pool that the pools of clusters are in.
	WorkloadPool string
	// OwnerVMID is the VMID of the VM that owns its volumes: the last of the cluster's block.
	OwnerVMID int
}

// pool is the cluster's pool.
func (c Cluster) pool() string { return v1alpha1.ClusterPool(c.WorkloadPool, c.Namespace, c.Name) }

// ownerChecks say whether a VM is the one that owns a cluster's volumes. They ask only what Proxmox VE's list has at
// once, also of a node that is offline: names come late there.
var ownerChecks = []struct {
	name  string
	fails func(Cluster, proxmox.Machine) string
}{
	{"it is a VM", func(_ Cluster, m proxmox.Machine) string {
		if m.Type != "qemu" || m.Template {
			return "it is a container or a template"
		}
		return ""
	}},
	{"it is in the cluster's pool", func(c Cluster, m proxmox.Machine) string {
		if m.Pool != c.pool() {
			return fmt.Sprintf("it is not in pool %s; put it there", c.pool())
		}
		return ""
	}},
	{"it is marked", func(_ Cluster, m proxmox.Machine) string {
		if !slices.Contains(m.Tags, v1alpha1.VolumesTag) {
			return "it lacks the tag " + v1alpha1.VolumesTag
		}
		return ""
	}},
	{"it does not run", func(_ Cluster, m proxmox.Machine) string {
		if m.Status == "running" {
			return "it runs; stop it"
		}
		return ""
	}},
}

// findOwner looks the owner VM up. Its error is ErrNoOwner, or one that says what is wrong with the VM.
func findOwner(ctx context.Context, px Proxmox, c Cluster) (proxmox.Machine, error) {
	m, err := px.Machines().Find(ctx, c.OwnerVMID)
	if proxmox.Is(err, proxmox.NotFound) {
		return m, fmt.Errorf("VM %d of cluster %s: %w", c.OwnerVMID, c.NamespacedName, ErrNoOwner)
	}
	if err != nil {
		return m, err
	}
	for _, check := range ownerChecks {
		if why := check.fails(c, m); why != "" {
			return m, wrongOwner(c.OwnerVMID, why)
		}
	}
	return m, nil
}
