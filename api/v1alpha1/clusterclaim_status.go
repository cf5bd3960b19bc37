package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Phase is the life of a cluster in one word.
type Phase string

// The phases of a claim.
const (
	// PhasePending waits for something before the first machine can be made.
	PhasePending Phase = "Pending"
	// PhaseProvisioning makes the first machines.
	PhaseProvisioning Phase = "Provisioning"
	// PhaseRunning has all nodes the claim asks for.
	PhaseRunning Phase = "Running"
	// PhaseUpdating runs, and changes machines.
	PhaseUpdating Phase = "Updating"
	// PhaseError needs a person.
	PhaseError Phase = "Error"
	// PhaseDeleting takes the cluster down.
	PhaseDeleting Phase = "Deleting"
	// PhaseDeleted is gone from Proxmox VE; the claim's folder may be removed.
	PhaseDeleted Phase = "Deleted"
)

// Conditions of a claim. All are positive: True is good.
const (
	// ConditionRendered is False with file, line and message when the overlay at the tip does not render.
	ConditionRendered = "Rendered"
	// ConditionInGit is False when no overlay renders this claim any more; the cluster keeps running.
	ConditionInGit = "InGit"
	// ConditionAllocated is True when addresses and VMIDs are reserved in Proxmox VE.
	ConditionAllocated = "Allocated"
	// ConditionApplied is True when the live objects are what Git says.
	ConditionApplied = "Applied"
	// ConditionAvailable is True when the cluster's API answers and its control plane is healthy; otherwise its reason is the phase.
	ConditionAvailable = "Available"
	// ConditionUpToDate is True when every machine is as the claim asks.
	ConditionUpToDate = "UpToDate"
)

// ClusterClaimStatus is what the agent knows of a cluster.
type ClusterClaimStatus struct {
	// Phase is the cluster's life in one word.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// Message is the one sentence that says what is being waited for, or how it stands.
	// +optional
	Message string `json:"message,omitempty"`
	// Since is when the message began to be true; counts and times in it may have moved since.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Conditions say what is true of the cluster, and since when.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ObservedRevision is the commit that last changed this claim's rendered bytes, once it is applied.
	// +optional
	ObservedRevision string `json:"observedRevision,omitempty"`
	// Version is the Kubernetes version that the control plane runs.
	// +optional
	Version string `json:"version,omitempty"`
	// Nodes counts the cluster's nodes.
	// +optional
	Nodes NodeCount `json:"nodes,omitempty"`
	// Allocation is what the leader reserved for the cluster; its home is the pool's comment in Proxmox VE.
	// +optional
	Allocation *Allocation `json:"allocation,omitempty"`
	// Inventory names the objects that were applied for the claim, so that what Git no longer holds can be pruned.
	// +optional
	Inventory []ObjectReference `json:"inventory,omitempty"`
}

// NodeCount counts nodes.
type NodeCount struct {
	// Wanted is the number of nodes that the claim asks for.
	Wanted int32 `json:"wanted"`
	// Ready is the number of nodes that are Ready.
	Ready int32 `json:"ready"`
	// Summary is ready/wanted, for kubectl's table.
	Summary string `json:"summary,omitempty"`
}

// Allocation is a cluster's slice of its network and its block of VMIDs; disjoint from every other cluster's.
type Allocation struct {
	// Network is the Fleet's network that the addresses belong to.
	Network string `json:"network"`
	// Addresses are single addresses or first-last ranges for nodes; they grow and never shrink.
	Addresses []string `json:"addresses"`
	// VMIDs is the cluster's block of VMIDs.
	VMIDs IDRange `json:"vmIDs"`
}

// IDRange is a range of VMIDs, both ends included.
type IDRange struct {
	// +kubebuilder:validation:Minimum=100
	Start int32 `json:"start"`
	// +kubebuilder:validation:Maximum=999999999
	End int32 `json:"end"`
}

// ObjectReference names an applied object. Namespace is empty for cluster-scoped ones.
type ObjectReference struct {
	Group     string `json:"group,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}
