package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Fleet is the platform's settings: clusters/fleet.yaml, one a repository. Its live copy, named "fleet",
// carries in its status what has no claim.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=kubehenge
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'fleet'",message="the one Fleet is named fleet"
// +kubebuilder:printcolumn:name="Applied",type=string,JSONPath=`.status.source.appliedCommit`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.source.message`
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the platform's settings. Written by people, in Git.
	Spec FleetSpec `json:"spec"`
	// Status is written by the agent.
	// +optional
	Status FleetStatus `json:"status,omitempty"`
}

// FleetList is a list of Fleets.
//
// +kubebuilder:object:root=true
type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fleet `json:"items"`
}

// FleetSpec is the platform's settings.
type FleetSpec struct {
	// Proxmox says what of Proxmox VE clusters may use.
	Proxmox ProxmoxSettings `json:"proxmox"`

	// Networks are the networks that claims choose from.
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	Networks []Network `json:"networks"`

	// Sizes are named machine sizes that claims choose from.
	// +optional
	// +listType=map
	// +listMapKey=name
	Sizes []Size `json:"sizes,omitempty"`

	// Deletion guards clusters against claims that vanish from Git.
	// +optional
	Deletion Deletion `json:"deletion,omitempty"`
}

// ProxmoxSettings is what of Proxmox VE clusters may use.
type ProxmoxSettings struct {
	// WorkloadPool is the pool that clusters' pools are nested under; at most two levels, such as kubehenge.
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9._-]*(/[A-Za-z][A-Za-z0-9._-]*)?$`
	WorkloadPool string `json:"workloadPool"`
	// TemplatePool is the pool that holds the VM templates.
	// +kubebuilder:validation:MinLength=1
	TemplatePool string `json:"templatePool"`
	// Nodes are the Proxmox VE nodes of claims that name none. Default: where the template is.
	// +optional
	// +listType=set
	Nodes []string `json:"nodes,omitempty"`
	// Storages are the storages that VMs' disks may be on; the first is the default.
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	Storages []string `json:"storages"`
	// ISOStorage is the storage of the machines' bootstrap ISOs. It holds nothing else, since deleting an ISO takes
	// Datastore.Allocate on all of it. Default: kubehenge-iso.
	// +optional
	ISOStorage string `json:"isoStorage,omitempty"`
	// HA makes control-plane VMs on shared storage resources of Proxmox VE's HA manager. Default: false.
	// +optional
	HA bool `json:"ha,omitempty"`
	// VMIDs is the range that clusters' blocks of 100 VMIDs are taken from. Nothing else may use it.
	VMIDs IDRange `json:"vmIDs"`
}

// DefaultISOStorage is the storage of bootstrap ISOs where the Fleet names none.
const DefaultISOStorage = "kubehenge-iso"

// Network is a network that nodes can be put on.
type Network struct {
	// Name is what claims call it; a DNS label.
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// Bridge is the Proxmox VE bridge or VNet.
	// +kubebuilder:validation:MinLength=1
	Bridge string `json:"bridge"`
	// VLAN is the VLAN tag. Default: none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4094
	VLAN int32 `json:"vlan,omitempty"`
	// Subnet is the network's range, such as 10.0.40.0/24.
	// +kubebuilder:validation:MinLength=1
	Subnet string `json:"subnet"`
	// Gateway is the nodes' default gateway, in the subnet.
	// +kubebuilder:validation:MinLength=1
	Gateway string `json:"gateway"`
	// DNS are the nodes' name servers.
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	DNS []string `json:"dns"`
	// Nodes are the addresses for nodes: single addresses or first-last ranges in the subnet. Nothing else may use them.
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	Nodes []string `json:"nodes"`
	// Endpoints are the addresses for control-plane endpoints: single addresses or first-last ranges in the
	// subnet, apart from those of nodes.
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	Endpoints []string `json:"endpoints"`
}

// Size is a named machine size.
type Size struct {
	// Name is what claims call it; a DNS label.
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// CPU is the number of virtual CPUs.
	// +kubebuilder:validation:Minimum=1
	CPU int32 `json:"cpu"`
	// Memory is a quantity such as 4Gi, a multiple of 8 MiB.
	// +kubebuilder:validation:MinLength=1
	Memory string `json:"memory"`
	// Disk is a quantity such as 40Gi, whole GiB, at least 5.
	// +kubebuilder:validation:MinLength=1
	Disk string `json:"disk"`
}

// DeletionMode says what happens to a cluster whose claim vanishes from Git.
type DeletionMode string

const (
	// DeletionKeep marks the claim and keeps the cluster running; the default.
	DeletionKeep DeletionMode = "Keep"
	// DeletionPrune deletes the cluster, at most maxPerCommit a commit.
	DeletionPrune DeletionMode = "Prune"
)

// Deletion guards clusters against claims that vanish from Git.
type Deletion struct {
	// Mode is Keep or Prune. Default: Keep.
	// +optional
	// +kubebuilder:validation:Enum=Keep;Prune
	Mode DeletionMode `json:"mode,omitempty"`
	// MaxPerCommit is the most clusters that one commit may delete by leaving them out, where mode is Prune;
	// a commit that leaves out more deletes none. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxPerCommit int32 `json:"maxPerCommit,omitempty"`
}

// FleetStatus is what the agent knows that belongs to no claim.
type FleetStatus struct {
	// Source is how the repository stands.
	// +optional
	Source SourceStatus `json:"source,omitempty"`
	// Overlays are the overlays that do not render, and why.
	// +optional
	// +listType=atomic
	Overlays []OverlayProblem `json:"overlays,omitempty"`
	// Templates are the Kubernetes versions that have a VM template, by what begins the templates' tags.
	// +optional
	// +listType=atomic
	Templates []Templates `json:"templates,omitempty"`
}

// Templates are VM templates whose tags begin alike.
type Templates struct {
	// TagPrefix is what stands before the version in their tags, such as kubeadm-; a class names its own as templateTagPrefix.
	TagPrefix string `json:"tagPrefix"`
	// Versions are the Kubernetes versions that have exactly one template, such as v1.36.3, the oldest first.
	// +listType=atomic
	Versions []string `json:"versions"`
}

// SourceStatus is how the repository stands.
type SourceStatus struct {
	// Tip is the newest commit that was fetched, accepted or not.
	// +optional
	Tip string `json:"tip,omitempty"`
	// AppliedCommit is the newest commit that was accepted and handed to the clusters.
	// +optional
	AppliedCommit string `json:"appliedCommit,omitempty"`
	// SignedBy is the principal whose signature the applied commit carries; empty where none is asked for.
	// +optional
	SignedBy string `json:"signedBy,omitempty"`
	// Message is one sentence: in step, or why the tip is refused or the repository cannot be read.
	// +optional
	Message string `json:"message,omitempty"`
	// Since is when the message began to be true.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
}

// OverlayProblem is one reason why an overlay does not render.
type OverlayProblem struct {
	// Path is the overlay's folder, or the file where the problem is.
	Path string `json:"path"`
	// Line is the line in that file, from 1; 0 where there is none.
	// +optional
	Line int32 `json:"line,omitempty"`
	// Field is the field, such as spec.controlPlane.replicas; empty where there is none.
	// +optional
	Field string `json:"field,omitempty"`
	// Message says what is wrong and what would be right.
	Message string `json:"message"`
}
