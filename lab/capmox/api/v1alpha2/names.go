package v1alpha2

// Kinds.
const (
	ProxmoxClusterKind = "ProxmoxCluster"
	ProxmoxMachineKind = "ProxmoxMachine"
)

// Finalizers that capmox sets.
const (
	// ClusterFinalizer keeps a ProxmoxCluster until its ProxmoxMachines are gone.
	ClusterFinalizer = "proxmoxcluster.infrastructure.cluster.x-k8s.io"
	// SecretFinalizer keeps the Secret of credentialsRef until its ProxmoxCluster is gone.
	SecretFinalizer = "proxmoxcluster.infrastructure.cluster.x-k8s.io/secret"
	// MachineFinalizer keeps a ProxmoxMachine until its VMID is free again.
	MachineFinalizer = "proxmoxmachine.infrastructure.cluster.x-k8s.io"
)

// Labels and annotations that capmox sets on address pools, address claims and machines.
const (
	// ZoneLabel names the deployment zone; "default" where zones are not used.
	ZoneLabel = "topology.kubernetes.io/proxmox-zone"
	// IPFamilyAnnotation is ipv4 or ipv6, on a pool.
	IPFamilyAnnotation = "ipam.capmox.cluster.x-k8s.io/ip-family"
	// GatewayMetricAnnotation is the metric of the pool's gateway, on a pool.
	GatewayMetricAnnotation = "ipam.capmox.cluster.x-k8s.io/gateway-metric"
	// OldMetricAnnotation is GatewayMetricAnnotation's former name; capmox still writes both.
	OldMetricAnnotation = "metric"
	// PoolOffsetAnnotation numbers the claims of one network device, on a claim.
	PoolOffsetAnnotation = "ipam.capmox.cluster.x-k8s.io/pool-ref-counter"
	// DefaultGatewayAnnotation is "true" on a claim for an address of the cluster's own pool.
	DefaultGatewayAnnotation = "ipam.capmox.cluster.x-k8s.io/default-gateway"
)

// DefaultZone is the zone of everything as long as zones are not used.
const DefaultZone = "default"

// DefaultNetworkDevice is the network device that takes the cluster's addresses.
const DefaultNetworkDevice = "net0"

// ReadyCondition sums up the other conditions of a ProxmoxCluster or ProxmoxMachine.
const ReadyCondition = "Ready"

// Conditions of a ProxmoxCluster and their reasons.
const (
	// ProxmoxAvailableCondition is true once the cluster's pools exist and its credentials were found.
	ProxmoxAvailableCondition = "ProxmoxAvailable"

	// ProxmoxUnreachableReason: the Secret of credentialsRef could not be read or written.
	ProxmoxUnreachableReason = "ProxmoxUnreachable"
	// CredentialsNotFoundReason: neither the environment nor credentialsRef gives credentials.
	CredentialsNotFoundReason = "CredentialsNotFound"
	// MissingControlPlaneEndpointReason: an externally managed control plane gave no endpoint yet.
	MissingControlPlaneEndpointReason = "MissingControlPlaneEndpoint"
)

// VirtualMachineProvisionedCondition is the only condition of a ProxmoxMachine besides Ready. While it is
// false its reason is the state of capmox's state machine: the stage to run next, or how it failed.
const VirtualMachineProvisionedCondition = "VirtualMachineProvisioned"

// Reasons of VirtualMachineProvisioned: the stages, in their order. Cluster API's own reasons
// WaitingForClusterInfrastructureReady, WaitingForBootstrapData, Provisioned and Deleting occur too.
const (
	// CloningReason: no VM yet, or cloned and not yet configured.
	CloningReason = "Cloning"
	// WaitingForDiskReconciliationReason: configured; the boot volume is to be resized.
	WaitingForDiskReconciliationReason = "WaitingForDiskReconciliation"
	// WaitingForStaticIPAllocationReason: resized; addresses are claimed.
	WaitingForStaticIPAllocationReason = "WaitingForStaticIPAllocation"
	// WaitingForBootstrapDataReconciliationReason: addresses known; the ISO is to be put in.
	WaitingForBootstrapDataReconciliationReason = "WaitingForBootstrapDataReconciliation"
	// WaitingForVMPowerUpReason: the ISO is in; the VM is to be started.
	WaitingForVMPowerUpReason = "WaitingForVMPowerUp"
	// WaitingForClusterAPIMachineAddressesReason: running; the addresses are to be reported.
	WaitingForClusterAPIMachineAddressesReason = "WaitingForClusterAPIMachineAddresses"
	// WaitingForCloudInitReason: reported; the guest agent and cloud-init are asked.
	WaitingForCloudInitReason = "WaitingForCloudInit"
	// WaitingForBootstrapReadyReason: cloud-init has ended well.
	WaitingForBootstrapReadyReason = "WaitingForBootstrapReady"
)

// Reasons of VirtualMachineProvisioned: failures.
const (
	// CloningFailedReason: the clone or what comes before it failed. capmox retries, and never leaves this
	// reason when the retry succeeds: such a VM is not configured and not started.
	CloningFailedReason = "CloningFailed"
	// TaskFailedReason: a task other than qmstart ended in anything but OK. It stays.
	TaskFailedReason = "TaskFailed"
	// PoweringOnFailedReason: the start call was refused.
	PoweringOnFailedReason = "PoweringOnFailed"
	// VMProvisionFailedReason is terminal: the machine is not looked at again until it is deleted.
	VMProvisionFailedReason = "VMProvisionFailed"
	// DeletionFailedReason: a call of the deletion failed; it is retried.
	DeletionFailedReason = "DeletionFailed"
)
