package v1alpha1

// Names that appear on live objects and in Proxmox VE. Changing one orphans what carries the old one.
const (
	// FleetName is the name of the one Fleet.
	FleetName = "fleet"
	// SystemNamespace holds class objects (ClusterClass and templates) in the management cluster.
	SystemNamespace = "kubehenge-system"
	// KubeconfigNamespace holds copies of clusters' kubeconfigs, the only Secrets that the appliance may read.
	KubeconfigNamespace = "kubehenge-kubeconfigs"

	// RevisionAnnotation carries the commit that last changed an applied object's rendered bytes.
	RevisionAnnotation = "kubehenge.dev/revision"
	// CreatedByAnnotation on a ClusterClaim and its Cluster names who made the cluster: the user of Proxmox VE for whom the appliance committed it or who
	// pushed it there, or else the e-mail address of the commit's author.
	CreatedByAnnotation = "kubehenge.dev/created-by"
	// ClaimLabel marks every object applied for a claim with the claim's name.
	ClaimLabel = "kubehenge.dev/claim"
	// ClassLabel marks the objects of a class revision with its name.
	ClassLabel = "kubehenge.dev/class"

	// OnlineNodesAnnotation on a Cluster lists, sorted and comma-separated, the Proxmox VE nodes that may take its machines now.
	OnlineNodesAnnotation = "kubehenge.dev/online-nodes"
	// TemplateAnnotation on a Cluster is its Kubernetes version once the VM template of that version was found; where it
	// was looked for in vain, a colon and the reason follow.
	TemplateAnnotation = "kubehenge.dev/vm-template"
	// DeleteHoldPrefix begins the annotations on a Cluster that hold its deletion: DeleteHoldPrefix plus a part's name.
	// The value is the sentence that says what is waited for. A part writes it before there is something to wait for.
	DeleteHoldPrefix = "hold-delete.kubehenge.dev/"
	// CornerAnnotation on a Cluster is CornerReady once its pool, user, token and volume owner are in Proxmox VE.
	CornerAnnotation = "kubehenge.dev/corner"
	// CornerReady is the value of CornerAnnotation that lets Cluster API begin.
	CornerReady = "ready"
	// ProxmoxNodeAnnotation on a ProxmoxMachine names the node that its VM moved to, so that the provider looks again.
	ProxmoxNodeAnnotation = "kubehenge.dev/proxmox-node"
	// RotateAnnotation on a live ClusterClaim asks for a new token; its value is when that was asked, in RFC 3339.
	RotateAnnotation = "kubehenge.dev/rotate"
	// CollectAnnotation on a live ClusterClaim lists the VMIDs, comma-separated, of ownerless VMs to delete.
	CollectAnnotation = "kubehenge.dev/gc"
	// OrphansAnnotation on a live ClusterClaim lists the VMs that belong to no machine, as JSON.
	OrphansAnnotation = "kubehenge.dev/orphans"
	// RemedyAnnotation on a Cluster counts, as JSON, how often machines were replaced for the same cause.
	RemedyAnnotation = "kubehenge.dev/remedy"
	// HAHookAnnotation on a control-plane Machine holds the deletion of its VM until it is out of Proxmox VE's HA.
	HAHookAnnotation = "pre-terminate.delete.hook.machine.cluster.x-k8s.io/kubehenge-ha"

	// SyncFieldManager owns the fields that come from Git.
	SyncFieldManager = "kubehenge-sync"
	// StatusFieldManager owns the status subresource of ClusterClaim and Fleet, but for the Fleet's templates.
	StatusFieldManager = "kubehenge-status"
	// PlacementFieldManager owns OnlineNodesAnnotation, TemplateAnnotation and the templates in the Fleet's status.
	PlacementFieldManager = "kubehenge-placement"
	// HooksFieldManager owns the ExtensionConfig HooksName.
	HooksFieldManager = "kubehenge-hooks"
	// CornerFieldManager owns CornerAnnotation and the objects that carry a cluster's token to it.
	CornerFieldManager = "kubehenge-corner"
	// HAFieldManager owns HAHookAnnotation and ProxmoxNodeAnnotation.
	HAFieldManager = "kubehenge-ha"
	// RemedyFieldManager owns the marks on machines that are to be replaced.
	RemedyFieldManager = "kubehenge-remedy"
	// KubeconfigFieldManager owns the copies of clusters' kubeconfigs.
	KubeconfigFieldManager = "kubehenge-kubeconfigs"

	// CapmoxSetting is the setting of the ExtensionConfig HooksName that lists, comma-separated, the patches that the
	// installed capmox lacks; empty for none. Every hook is sent it.
	CapmoxSetting = "capmox-lacks"
	// HooksName is the ExtensionConfig by which Cluster API finds the agent's hooks; classes name their patches by it.
	HooksName = "kubehenge"

	// AllocationVariable is the Cluster variable that carries addresses and VMIDs given by the leader.
	AllocationVariable = "allocation"

	// Tag marks every VM and template that belongs to Kubehenge.
	Tag = "kubehenge"
	// VolumesTag marks the VM that owns a cluster's volumes.
	VolumesTag = "kubehenge-volumes"

	// ClustersGroup is the Proxmox VE group that all clusters' users belong to.
	ClustersGroup = "kubehenge-clusters"
	// ClusterToken is the name of a cluster's API token.
	ClusterToken = "cluster"
)

// ClusterTag is the Proxmox VE tag, and the last segment of the pool, of one cluster.
func ClusterTag(namespace, name string) string { return namespace + "." + name }

// ClusterPool is the Proxmox VE pool of one cluster, nested under the workload pool.
func ClusterPool(workloadPool, namespace, name string) string {
	return workloadPool + "/" + ClusterTag(namespace, name)
}

// KubeconfigCopy is the name of the Secret in KubeconfigNamespace with a cluster's kubeconfig, under the key "value".
func KubeconfigCopy(namespace, name string) string { return namespace + "." + name }

// TemplateTag is the tag of the VM template with a Kubernetes version; distribution is "kubeadm" and the like.
func TemplateTag(distribution, version string) string { return distribution + "-" + version }

// ClusterUser is the Proxmox VE user that a cluster's token belongs to.
func ClusterUser(namespace, name string) string { return "kh-" + ClusterTag(namespace, name) + "@pve" }

// OwnerVMName is the name of the VM that owns a cluster's volumes; its VMID is the last of the cluster's block.
func OwnerVMName(name string) string { return name + "-volumes" }

// CornerObjectSuffix ends the names of the Secret and the ClusterResourceSet that carry clusters' tokens to them.
const CornerObjectSuffix = "-proxmox-corner"
