package corner

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
)

// place is what a cluster's corner is called in Proxmox VE. It follows from the names and the block of VMIDs alone.
type place struct {
	cluster types.NamespacedName
	// above is the workload pool, pool the cluster's own below it.
	above, pool string
	// user is user@realm.
	user string
	// tag marks the cluster's VMs.
	tag string
	// vmIDs is the cluster's block; its last is the owner VM's.
	vmIDs v1alpha1.IDRange
}

func placeOf(key types.NamespacedName, fleet *v1alpha1.Fleet, given *v1alpha1.Allocation) place {
	above := fleet.Spec.Proxmox.WorkloadPool
	return place{
		cluster: key, above: above, pool: v1alpha1.ClusterPool(above, key.Namespace, key.Name),
		user: v1alpha1.ClusterUser(key.Namespace, key.Name), tag: v1alpha1.ClusterTag(key.Namespace, key.Name), vmIDs: given.VMIDs,
	}
}

func (p place) path() string { return "/pool/" + p.pool }

func (p place) owner() int { return int(p.vmIDs.End) }

// ownerVM is the owner VM as a person would look for it.
func (p place) ownerVM() string {
	return fmt.Sprintf("VM %d (%s)", p.owner(), v1alpha1.OwnerVMName(p.cluster.Name))
}

func (p place) inBlock(vmid int) bool { return vmid >= int(p.vmIDs.Start) && vmid <= int(p.vmIDs.End) }

// isOwner tells the owner VM by number and tags: nothing else is ever deleted.
func (p place) isOwner(m proxmox.Machine) bool {
	return m.VMID == p.owner() && m.Type == "qemu" && slices.Contains(m.Tags, v1alpha1.VolumesTag) && slices.Contains(m.Tags, p.tag)
}

// owns tells the cluster's own VMs, the owner VM included, wherever they are: by their number and their tag, as each of
// the two may be another's.
func (p place) owns(m proxmox.Machine) bool {
	return p.inBlock(m.VMID) && slices.Contains(m.Tags, p.tag) && !m.Template
}

// wasOwner tells a VM that was the owner VM until somebody took tags from it: a machine of the cluster that got the number
// meanwhile has another name.
func (p place) wasOwner(m proxmox.Machine) bool {
	return p.owns(m) && m.VMID == p.owner() && (m.Name == "" || m.Name == v1alpha1.OwnerVMName(p.cluster.Name))
}

// ownerTags are the owner VM's, sorted as Proxmox VE sorts them.
func (p place) ownerTags() []string {
	tags := []string{v1alpha1.Tag, v1alpha1.VolumesTag, p.tag}
	slices.Sort(tags)
	return tags
}

// grants are the ACL entries of the user, or of one of its tokens.
func (p place) grants(kind proxmox.GranteeKind, to string) []proxmox.Grant {
	ofUser, ofToken := access.ClusterEntries(p.above, p.pool, p.user, to)
	if kind == proxmox.GrantUser {
		return ofUser
	}
	return ofToken
}
