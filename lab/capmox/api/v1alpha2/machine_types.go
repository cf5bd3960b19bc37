package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// ProxmoxMachineSpec is the wanted state of a ProxmoxMachine.
type ProxmoxMachineSpec struct {
	VirtualMachineCloneSpec `json:",inline"`

	// providerID is proxmox://<smbios uuid>; set by the controller, forbidden in templates.
	// +optional
	// +kubebuilder:validation:MinLength=46
	// +kubebuilder:validation:MaxLength=46
	// +kubebuilder:validation:Pattern=`^proxmox://[a-fA-F0-9]{8}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{4}-[a-fA-F0-9]{12}$`
	ProviderID string `json:"providerID,omitempty"`

	// virtualMachineID is the VMID; set by the controller.
	// +optional
	VirtualMachineID *int64 `json:"virtualMachineID,omitempty"`

	// numSockets is the number of CPU sockets; unset keeps the template's.
	// +kubebuilder:validation:Minimum=1
	// +optional
	NumSockets *int32 `json:"numSockets,omitempty"`

	// numCores is the number of cores a socket; unset keeps the template's.
	// +kubebuilder:validation:Minimum=1
	// +optional
	NumCores *int32 `json:"numCores,omitempty"`

	// memoryMiB is the memory in MiB; unset keeps the template's.
	// +kubebuilder:validation:MultipleOf=8
	// +kubebuilder:validation:Minimum=0
	// +optional
	MemoryMiB *int32 `json:"memoryMiB,omitempty"`

	// disks are changed once, before the first start.
	// +optional
	Disks *Storage `json:"disks,omitempty"`

	// network is the VM's network cards.
	// +required
	Network *NetworkSpec `json:"network,omitzero"`

	// vmIDRange is where the VMID is taken from; unset takes the next free one.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.end >= self.start",message="end should be greater than or equal to start"
	VMIDRange *VMIDRange `json:"vmIDRange,omitempty,omitzero"`

	// checks says what not to wait for.
	// +optional
	Checks *ProxmoxMachineChecks `json:"checks,omitempty"`

	// metadataSettings changes the meta-data of the ISO.
	// +optional
	MetadataSettings *MetadataSettings `json:"metadataSettings,omitempty,omitzero"`

	// allowedNodes overrides the cluster's.
	// +optional
	// +listType=set
	AllowedNodes []string `json:"allowedNodes,omitempty"`

	// tags are added to the VM's; they cannot be changed.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:items:Pattern=`^(?i)[a-z0-9_][a-z0-9_\-\+\.]*$`
	Tags []string `json:"tags,omitempty"`
}

// VirtualMachineCloneSpec is what is cloned, and how.
// +kubebuilder:validation:XValidation:rule="self.full || !has(self.format)",message="Must set full=true when specifying format"
// +kubebuilder:validation:XValidation:rule="self.full || !has(self.storage)",message="Must set full=true when specifying storage"
type VirtualMachineCloneSpec struct {
	TemplateSource `json:",inline"`

	// description is the VM's notes.
	// +optional
	Description *string `json:"description,omitempty"`

	// format is the disks' format, on storages that have a choice.
	// +kubebuilder:validation:Enum=raw;qcow2;vmdk
	// +optional
	Format *string `json:"format,omitempty"`

	// full makes a full clone.
	// +default=true
	// +optional
	Full *bool `json:"full,omitempty"`

	// pool is the Proxmox VE pool the VM becomes a member of.
	// +optional
	Pool *string `json:"pool,omitempty"`

	// snapName clones from a snapshot.
	// +optional
	SnapName *string `json:"snapName,omitempty"`

	// storage takes the disks.
	// +optional
	Storage *string `json:"storage,omitempty"`
}

// TemplateSource is how the VM template is found.
// +kubebuilder:validation:XValidation:rule="has(self.templateSelector) || (has(self.templateID) && has(self.sourceNode))",message="Must specify either templateID or templateSelector"
type TemplateSource struct {
	// sourceNode is the template's node.
	// +kubebuilder:validation:MinLength=1
	// +optional
	SourceNode *string `json:"sourceNode,omitempty"`

	// templateID is the template's VMID.
	// +optional
	TemplateID *int32 `json:"templateID,omitempty"`

	// templateSelector finds the template by its tags.
	// +optional
	TemplateSelector *TemplateSelector `json:"templateSelector,omitempty,omitzero"`
}

// TemplateSelector finds a template by its tags.
type TemplateSelector struct {
	// matchTags are compared in lower case; exactly one template in the whole Proxmox VE cluster must match.
	// +listType=set
	// +kubebuilder:validation:items:Pattern=`^(?i)[a-z0-9_][a-z0-9_\-\+\.]*$`
	// +kubebuilder:validation:MinItems=1
	// +required
	MatchTags []string `json:"matchTags,omitempty"`

	// matchPolicy is exact, uniqueSubset (the template may have more tags) or bestSubset (the one with the
	// fewest more).
	// +kubebuilder:validation:Enum=exact;uniqueSubset;bestSubset
	// +kubebuilder:default=exact
	// +optional
	MatchPolicy TemplateMatchPolicy `json:"matchPolicy,omitempty"`
}

// TemplateMatchPolicy says how tags are compared.
type TemplateMatchPolicy string

// Policies of matching.
const (
	MatchExact        TemplateMatchPolicy = "exact"
	MatchUniqueSubset TemplateMatchPolicy = "uniqueSubset"
	MatchBestSubset   TemplateMatchPolicy = "bestSubset"
)

// Storage is the disks that are changed.
type Storage struct {
	// bootVolume is the disk the VM starts from.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="Value is immutable"
	// +optional
	BootVolume *DiskSize `json:"bootVolume,omitempty,omitzero"`
}

// DiskSize is a disk's size.
type DiskSize struct {
	// disk is the device, such as scsi0.
	// +kubebuilder:validation:MinLength=1
	// +required
	Disk string `json:"disk,omitempty"`

	// sizeGb is the size in GiB; Proxmox VE only grows disks.
	// +kubebuilder:validation:Minimum=5
	// +required
	SizeGB int32 `json:"sizeGb,omitempty"`
}

// NetworkSpec is the VM's network cards.
type NetworkSpec struct {
	// networkDevices are the cards, net0 first.
	// +required
	// +listType=map
	// +listMapKey=name
	NetworkDevices []NetworkDevice `json:"networkDevices,omitempty"`
}

// NetworkDevice is one network card.
type NetworkDevice struct {
	// bridge is the Proxmox VE bridge.
	// +kubebuilder:validation:MinLength=1
	// +optional
	Bridge *string `json:"bridge,omitempty"`

	// defaultIPv4 gives the card an address of the cluster's IPv4 range.
	// +optional
	DefaultIPv4 *bool `json:"defaultIPv4,omitempty"`

	// defaultIPv6 gives the card an address of the cluster's IPv6 range.
	// +optional
	DefaultIPv6 *bool `json:"defaultIPv6,omitempty"`

	// model is the card's model.
	// +optional
	// +kubebuilder:validation:Enum=e1000;virtio;rtl8139;vmxnet3
	// +default="virtio"
	Model *string `json:"model,omitempty"`

	// mtu is the card's MTU in bytes; 1 takes the bridge's.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == 1 || (self >= 576 && self <= 65520)",message="invalid MTU value"
	MTU *int32 `json:"mtu,omitempty"`

	// vlan is the VLAN tag.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4094
	VLAN *int32 `json:"vlan,omitempty"`

	// queues is the number of queues.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Queues *int32 `json:"queues,omitempty"`

	// name is net0, net1, ... without a gap.
	// +default="net0"
	// +optional
	// +kubebuilder:validation:MinLength=4
	// +kubebuilder:validation:Pattern=`^net[0-9]+$`
	Name string `json:"name,omitempty"`
}

// VMIDRange is where the VMID is taken from.
type VMIDRange struct {
	// start is the first VMID.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=999999999
	// +required
	Start int64 `json:"start,omitempty"`

	// end is the last VMID.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=999999999
	// +required
	End int64 `json:"end,omitempty"`
}

// ProxmoxMachineChecks says what not to wait for.
type ProxmoxMachineChecks struct {
	// skipCloudInitStatus does not ask cloud-init.
	// +optional
	SkipCloudInitStatus *bool `json:"skipCloudInitStatus,omitempty"`
	// skipQemuGuestAgent does not wait for the guest agent, nor ask cloud-init.
	// +optional
	SkipQemuGuestAgent *bool `json:"skipQemuGuestAgent,omitempty"`
}

// MetadataSettings changes the meta-data of the ISO.
type MetadataSettings struct {
	// providerIDInjection adds provider-id.
	// +required
	ProviderIDInjection *bool `json:"providerIDInjection,omitempty"`
}

// ProxmoxMachineStatus is the observed state of a ProxmoxMachine.
type ProxmoxMachineStatus struct {
	// conditions are Ready, VirtualMachineProvisioned and Paused.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// initialization is part of Cluster API's contract.
	// +optional
	Initialization InitializationStatus `json:"initialization,omitempty,omitzero"`

	// addresses are reported to Cluster API.
	// +optional
	// +listType=atomic
	Addresses []clusterv1.MachineAddress `json:"addresses,omitempty"`

	// vmStatus is the VM's state as of the last look.
	// +optional
	VMStatus *VirtualMachineState `json:"vmStatus,omitempty"`

	// bootstrapDataProvided is true once the ISO is in.
	// +optional
	BootstrapDataProvided *bool `json:"bootstrapDataProvided,omitempty"`

	// ipAddresses are the claimed addresses by network card; "default" has those of the cluster's ranges.
	// +optional
	// +listType=map
	// +listMapKey=net
	IPAddresses []IPAddressesSpec `json:"ipAddresses,omitempty"`

	// proxmoxNode is the node the VM was put on, or was last found on.
	// +optional
	ProxmoxNode *string `json:"proxmoxNode,omitempty"`

	// taskRef is the UPID of the task that is waited for.
	// +optional
	TaskRef *string `json:"taskRef,omitempty"`

	// retryAfter is when a failed task is looked at again.
	// +optional
	RetryAfter *metav1.Time `json:"retryAfter,omitempty"`
}

// VirtualMachineState is what a look at the VM told.
// +kubebuilder:validation:Enum=notfound;pending;ready
type VirtualMachineState string

// States of a VM.
const (
	VMPending VirtualMachineState = "pending"
	VMReady   VirtualMachineState = "ready"
)

// IPAddressesSpec are the addresses of one network card.
type IPAddressesSpec struct {
	// net is the card, or "default".
	// +kubebuilder:validation:MinLength=4
	// +kubebuilder:validation:Pattern=`^(net[0-9]+|default)$`
	// +required
	NetName string `json:"net,omitempty"`

	// ipv4 are its IPv4 addresses.
	// +optional
	// +listType=set
	IPv4 []string `json:"ipv4,omitempty"`

	// ipv6 are its IPv6 addresses.
	// +optional
	// +listType=set
	IPv6 []string `json:"ipv6,omitempty"`
}

// ProxmoxMachine is Cluster API's infrastructure machine on Proxmox VE.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-proxmox"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha2"
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=proxmoxmachines,scope=Namespaced,categories=cluster-api;proxmox,shortName=moxm
// +kubebuilder:printcolumn:name="Cluster",type="string",JSONPath=".metadata.labels.cluster\\.x-k8s\\.io/cluster-name",description="Cluster to which this ProxmoxMachine belongs"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.initialization.provisioned",description="Machine ready status"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.proxmoxNode",description="Proxmox Node that the machine was deployed on"
// +kubebuilder:printcolumn:name="Provider_ID",type="string",JSONPath=".spec.providerID",description="Provider ID"
// +kubebuilder:printcolumn:name="Machine",type="string",JSONPath=".metadata.ownerReferences[?(@.kind==\"Machine\")].name",description="Machine object which owns with this ProxmoxMachine"
type ProxmoxMachine struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the wanted state.
	// +kubebuilder:validation:XValidation:rule="[has(self.sourceNode), has(self.templateSelector)].exists_one(c, c)",message="must define either a SourceNode with a TemplateID or a TemplateSelector"
	// +kubebuilder:validation:XValidation:rule="[has(self.templateID), has(self.templateSelector)].exists_one(c, c)",message="must define either a SourceNode with a TemplateID or a TemplateSelector"
	// +required
	Spec ProxmoxMachineSpec `json:"spec,omitzero"`

	// status is the observed state.
	// +optional
	Status ProxmoxMachineStatus `json:"status,omitempty,omitzero"`
}

// GetConditions returns the conditions.
func (m *ProxmoxMachine) GetConditions() []metav1.Condition { return m.Status.Conditions }

// SetConditions replaces the conditions.
func (m *ProxmoxMachine) SetConditions(conditions []metav1.Condition) {
	m.Status.Conditions = conditions
}

// ProxmoxMachineList is a list of ProxmoxMachines.
// +kubebuilder:object:root=true
type ProxmoxMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProxmoxMachine `json:"items"`
}

// ProxmoxMachineTemplate is what ProxmoxMachines are made from.
// +kubebuilder:object:root=true
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=infrastructure-proxmox"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta1=v1alpha2"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha2"
// +kubebuilder:resource:path=proxmoxmachinetemplates,scope=Namespaced,categories=cluster-api,shortName=pmt
// +kubebuilder:storageversion
type ProxmoxMachineTemplate struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec holds the template.
	// +required
	Spec ProxmoxMachineTemplateSpec `json:"spec,omitzero"`
}

// ProxmoxMachineTemplateSpec holds the template.
type ProxmoxMachineTemplateSpec struct {
	// template is what the ProxmoxMachine becomes.
	// +required
	Template ProxmoxMachineTemplateResource `json:"template,omitzero"`
}

// ProxmoxMachineTemplateResource is what the ProxmoxMachine becomes.
type ProxmoxMachineTemplateResource struct {
	// metadata holds labels and annotations.
	// +optional
	ObjectMeta clusterv1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// spec is the ProxmoxMachine's.
	// +required
	Spec ProxmoxMachineSpec `json:"spec,omitzero"`
}

// ProxmoxMachineTemplateList is a list of ProxmoxMachineTemplates.
// +kubebuilder:object:root=true
type ProxmoxMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProxmoxMachineTemplate `json:"items"`
}
