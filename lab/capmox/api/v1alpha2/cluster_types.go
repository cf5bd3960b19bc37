package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ProxmoxClusterSpec is the wanted state of a ProxmoxCluster.
type ProxmoxClusterSpec struct {
	// controlPlaneEndpoint is where the workload cluster's API is served. An IP address must lie outside
	// ipv4Config and ipv6Config.
	// +optional
	ControlPlaneEndpoint APIEndpoint `json:"controlPlaneEndpoint,omitempty,omitzero"`

	// externalManagedControlPlane says that the control-plane provider fills in the endpoint.
	// +optional
	// +default=false
	ExternalManagedControlPlane *bool `json:"externalManagedControlPlane,omitempty"`

	// allowedNodes are the Proxmox VE nodes to choose from; empty clones onto the template's node.
	// +listType=set
	// +optional
	AllowedNodes []string `json:"allowedNodes,omitempty"`

	// schedulerHints change how a node is chosen.
	// +optional
	SchedulerHints *SchedulerHints `json:"schedulerHints,omitempty"`

	// ipv4Config is the range the machines' IPv4 addresses come from.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.addresses.size() > 0",message="IPv4Config addresses must be provided"
	IPv4Config *IPConfigSpec `json:"ipv4Config,omitempty,omitzero"`

	// ipv6Config is the range the machines' IPv6 addresses come from.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.addresses.size() > 0",message="IPv6Config addresses must be provided"
	IPv6Config *IPConfigSpec `json:"ipv6Config,omitempty,omitzero"`

	// dnsServers are the machines' name servers.
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	DNSServers []string `json:"dnsServers,omitempty"`

	// credentialsRef names a Secret with url, token, secret, insecure and root_ca. It is only used when the
	// controller was started without credentials of its own.
	// +optional
	CredentialsRef *corev1.SecretReference `json:"credentialsRef,omitempty"`
}

// APIEndpoint is a host and port.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:XValidation:rule="self.port > 0 && self.port < 65536",message="port must be within 1-65535"
type APIEndpoint struct {
	// host is an IP address or a host name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Host string `json:"host,omitempty"`

	// port is a TCP port.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// IsZero says whether neither host nor port is set.
func (e APIEndpoint) IsZero() bool { return e == APIEndpoint{} }

// IPConfigSpec is one address family's range.
type IPConfigSpec struct {
	// addresses are single addresses, ranges (a-b) or networks (CIDR).
	// +required
	// +listType=set
	Addresses []string `json:"addresses,omitempty"`

	// prefix is the length of the network's prefix.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=128
	Prefix int32 `json:"prefix,omitempty"`

	// gateway is the default gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	Gateway string `json:"gateway,omitempty"`

	// metric is the metric of the default route.
	// +optional
	// +default=100
	// +kubebuilder:validation:Minimum=0
	Metric *int32 `json:"metric,omitempty"`
}

// SchedulerHints change how a node is chosen.
type SchedulerHints struct {
	// memoryAdjustment is the share of a node's memory that may be given to VMs, in percent; 0 checks nothing,
	// unset means 100.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MemoryAdjustment *int64 `json:"memoryAdjustment,omitempty"`
}

// ProxmoxClusterStatus is the observed state of a ProxmoxCluster.
type ProxmoxClusterStatus struct {
	// conditions are Ready, ProxmoxAvailable and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization is part of Cluster API's contract.
	// +optional
	Initialization InitializationStatus `json:"initialization,omitempty,omitzero"`

	// inClusterIPPoolRef names the pools made for this cluster.
	// +listType=atomic
	// +optional
	InClusterIPPoolRef []corev1.LocalObjectReference `json:"inClusterIPPoolRef,omitempty"`

	// inClusterZoneRef names them by zone and family.
	// +optional
	// +listType=map
	// +listMapKey=zone
	InClusterZoneRef []InClusterZoneRef `json:"inClusterZoneRef,omitempty"`

	// nodeLocations is where the machines are.
	// +optional
	NodeLocations *NodeLocations `json:"nodeLocations,omitempty"`
}

// InitializationStatus is part of Cluster API's contract.
// +kubebuilder:validation:MinProperties=1
type InitializationStatus struct {
	// provisioned is true once the infrastructure is complete; it never becomes false again.
	// +optional
	Provisioned *bool `json:"provisioned,omitempty"`
}

// InClusterZoneRef names the pools of one zone.
type InClusterZoneRef struct {
	// zone is the zone's name.
	// +default="default"
	// +optional
	Zone *string `json:"zone,omitempty"`

	// inClusterIPPoolRefV4 is the zone's IPv4 pool.
	// +optional
	InClusterIPPoolRefV4 *corev1.LocalObjectReference `json:"inClusterIPPoolRefV4,omitempty"`

	// inClusterIPPoolRefV6 is the zone's IPv6 pool.
	// +optional
	InClusterIPPoolRefV6 *corev1.LocalObjectReference `json:"inClusterIPPoolRefV6,omitempty"`
}

// NodeLocations is where the machines are.
type NodeLocations struct {
	// controlPlane are the control-plane machines.
	// +optional
	// +listType=atomic
	ControlPlane []NodeLocation `json:"controlPlane,omitempty"`

	// workers are the others.
	// +optional
	// +listType=atomic
	Workers []NodeLocation `json:"workers,omitempty"`
}

// NodeLocation is where one machine is.
type NodeLocation struct {
	// machine is the ProxmoxMachine.
	// +required
	Machine corev1.LocalObjectReference `json:"machine,omitempty"`

	// node is the Proxmox VE node.
	// +kubebuilder:validation:MinLength=1
	// +required
	Node string `json:"node,omitempty"`
}

// ProxmoxCluster is Cluster API's infrastructure cluster on Proxmox VE.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-proxmox"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha2"
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=proxmoxclusters,scope=Namespaced,categories=cluster-api,singular=proxmoxcluster
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",description="Cluster"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.initialization.provisioned",description="Cluster infrastructure is ready"
// +kubebuilder:printcolumn:name="Endpoint",type="string",JSONPath=".spec.controlPlaneEndpoint",description="API Endpoint"
type ProxmoxCluster struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the wanted state.
	// +kubebuilder:validation:XValidation:rule="self.ipv4Config != null || self.ipv6Config != null",message="at least one ip config must be set, either ipv4Config or ipv6Config"
	// +required
	Spec ProxmoxClusterSpec `json:"spec,omitzero"`

	// status is the observed state.
	// +optional
	Status ProxmoxClusterStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (c *ProxmoxCluster) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the conditions.
func (c *ProxmoxCluster) SetConditions(conditions []metav1.Condition) {
	c.Status.Conditions = conditions
}

// ProxmoxClusterList is a list of ProxmoxClusters.
// +kubebuilder:object:root=true
type ProxmoxClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProxmoxCluster `json:"items"`
}

// ProxmoxClusterTemplate is what a ClusterClass makes ProxmoxClusters from.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-proxmox"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha2"
// +kubebuilder:resource:path=proxmoxclustertemplates,scope=Namespaced,categories=cluster-api,shortName=pct
// +kubebuilder:storageversion
type ProxmoxClusterTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec holds the template.
	// +required
	Spec ProxmoxClusterTemplateSpec `json:"spec,omitzero"`
}

// ProxmoxClusterTemplateSpec holds the template.
type ProxmoxClusterTemplateSpec struct {
	// template is what the ProxmoxCluster becomes.
	// +required
	Template ProxmoxClusterTemplateResource `json:"template,omitzero"`
}

// ProxmoxClusterTemplateResource is what the ProxmoxCluster becomes.
type ProxmoxClusterTemplateResource struct {
	// metadata holds labels and annotations.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the ProxmoxCluster's.
	// +required
	Spec ProxmoxClusterSpec `json:"spec,omitzero"`
}

// ProxmoxClusterTemplateList is a list of ProxmoxClusterTemplates.
// +kubebuilder:object:root=true
type ProxmoxClusterTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProxmoxClusterTemplate `json:"items"`
}
