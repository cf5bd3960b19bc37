package v1alpha1

// Names that appear on live objects and in Proxmox VE. Changing one orphans what carries the old one.
const (
	// FleetName is the name of the one Fleet.
	FleetName = "fleet"
	// SystemNamespace holds class objects (ClusterClass and templates) in the management cluster.
	SystemNamespace = "kubehenge-system"

	// RevisionAnnotation carries the commit that last changed an applied object's rendered bytes.
	RevisionAnnotation = "kubehenge.dev/revision"
	// ClaimLabel marks every object applied for a claim with the claim's name.
	ClaimLabel = "kubehenge.dev/claim"
	// ClassLabel marks the objects of a class revision with its name.
	ClassLabel = "kubehenge.dev/class"

	// SyncFieldManager owns the fields that come from Git.
	SyncFieldManager = "kubehenge-sync"
	// StatusFieldManager owns the status subresource of ClusterClaim and Fleet.
	StatusFieldManager = "kubehenge-status"

	// AllocationVariable is the Cluster variable that carries addresses and VMIDs given by the leader.
	AllocationVariable = "allocation"

	// Tag marks every VM and template that belongs to Kubehenge.
	Tag = "kubehenge"
)

// ClusterTag is the Proxmox VE tag, and the last segment of the pool, of one cluster.
func ClusterTag(namespace, name string) string { return namespace + "." + name }

// ClusterPool is the Proxmox VE pool of one cluster, nested under the workload pool.
func ClusterPool(workloadPool, namespace, name string) string {
	return workloadPool + "/" + ClusterTag(namespace, name)
}

// TemplateTag is the tag of the VM template with a Kubernetes version; distribution is "kubeadm" and the like.
func TemplateTag(distribution, version string) string { return distribution + "-" + version }
