package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterClaim is one cluster as a person wants it. It is written in Git, in an overlay below clusters/;
// the agent applies it to the management cluster and reports on it in its status.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=kcc,categories=kubehenge
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`
// +kubebuilder:printcolumn:name="Nodes",type=string,JSONPath=`.status.nodes.summary`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Since",type=date,JSONPath=`.status.since`
// +kubebuilder:printcolumn:name="Made By",type=string,priority=1,JSONPath=`.metadata.annotations.kubehenge\.dev/created-by`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`
type ClusterClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what the cluster should be. Written by people, in Git.
	Spec ClusterClaimSpec `json:"spec"`
	// Status is what the cluster is. Written by the agent, never in Git.
	// +optional
	Status ClusterClaimStatus `json:"status,omitempty"`
}

// ClusterClaimList is a list of ClusterClaims.
//
// +kubebuilder:object:root=true
type ClusterClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterClaim `json:"items"`
}

// ClusterClaimSpec is the contract between whoever writes a claim and the agent.
type ClusterClaimSpec struct {
	// Class is the class revision the cluster is made from, a folder in classes/, such as kubeadm-1.
	// Its distribution stays after creation; the revision may move by a commit.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Class string `json:"class"`

	// Version is the Kubernetes version, such as v1.36.3. It may be raised, never lowered.
	// +kubebuilder:validation:Pattern=`^v\d+\.\d+\.\d+([+-][0-9A-Za-z.+-]+)?$`
	Version string `json:"version"`

	// Network is the name of one of the Fleet's networks. It stays after creation.
	// +kubebuilder:validation:MinLength=1
	Network string `json:"network"`

	// Endpoint is the control plane's virtual IP address, one of the network's endpoint addresses and no
	// other cluster's. It stays after creation.
	// +kubebuilder:validation:MinLength=1
	Endpoint string `json:"endpoint"`

	// ControlPlane says how many control-plane nodes there are and how large.
	ControlPlane ControlPlane `json:"controlPlane"`

	// Workers is the one worker pool of a cluster that needs no more; short for a pool named "workers".
	// Not together with pools.
	// +optional
	Workers *Workers `json:"workers,omitempty"`

	// Pools are named worker pools. Not together with workers.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Pools []Pool `json:"pools,omitempty"`

	// Nodes are the Proxmox VE nodes that may run the cluster's VMs. Default: the Fleet's proxmox.nodes.
	// +optional
	// +listType=set
	Nodes []string `json:"nodes,omitempty"`

	// Storage is the Proxmox VE storage of the VMs' disks, one of the Fleet's proxmox.storages.
	// Default: the first of them.
	// +optional
	Storage string `json:"storage,omitempty"`

	// PodCIDR is the range of pod addresses. It stays after creation. Default: 10.244.0.0/16.
	// +optional
	PodCIDR string `json:"podCIDR,omitempty"`

	// ServiceCIDR is the range of service addresses. It stays after creation. Default: 10.96.0.0/12.
	// +optional
	ServiceCIDR string `json:"serviceCIDR,omitempty"`

	// State is Running, or Deleted to delete the cluster with everything in it. Default: Running.
	// +optional
	// +kubebuilder:validation:Enum=Running;Deleted
	State State `json:"state,omitempty"`
}

// State is what a claim wants of its cluster as a whole.
type State string

const (
	// StateRunning is a cluster that runs; the default.
	StateRunning State = "Running"
	// StateDeleted is the tombstone: the cluster is deleted, and only this deletes it.
	StateDeleted State = "Deleted"
)

// MachineSize is how large a machine is: a named size of the Fleet, or its three numbers.
type MachineSize struct {
	// Size is the name of one of the Fleet's sizes. Not together with cpu, memory or disk.
	// +optional
	Size string `json:"size,omitempty"`
	// CPU is the number of virtual CPUs.
	// +optional
	// +kubebuilder:validation:Minimum=1
	CPU int32 `json:"cpu,omitempty"`
	// Memory is a quantity such as 4Gi, a multiple of 8 MiB.
	// +optional
	Memory string `json:"memory,omitempty"`
	// Disk is a quantity such as 40Gi, whole GiB, at least 5.
	// +optional
	Disk string `json:"disk,omitempty"`
}

// ControlPlane is the control plane's nodes.
type ControlPlane struct {
	// Replicas is the number of control-plane nodes: 1, 3 or 5, since etcd wants an odd number.
	// +kubebuilder:validation:Enum=1;3;5
	Replicas    int32 `json:"replicas"`
	MachineSize `json:",inline"`
}

// Workers is a worker pool without a name.
type Workers struct {
	// Replicas is the number of worker nodes.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=500
	Replicas    int32 `json:"replicas"`
	MachineSize `json:",inline"`
}

// Pool is a named worker pool.
type Pool struct {
	// Name is part of its machines' names; a DNS label of at most 20 characters.
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:MaxLength=20
	Name    string `json:"name"`
	Workers `json:",inline"`
}
