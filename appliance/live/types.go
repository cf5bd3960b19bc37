package live

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kubehenge.dev/api/v1alpha1"
)

// Claim is a live ClusterClaim.
type Claim struct {
	// Created is when the agent applied it first.
	Created time.Time
	// Spec is what was applied last.
	Spec v1alpha1.ClusterClaimSpec
	// Status is what the agent says, without the inventory.
	Status v1alpha1.ClusterClaimStatus
}

// Fleet is the live Fleet.
type Fleet struct {
	// Status is what the agent says.
	Status v1alpha1.FleetStatus
}

// Object is a live Cluster of Cluster API.
type Object struct {
	// Created is when it was made, Leaving when its deletion was asked for; zero while it stays.
	Created, Leaving time.Time
	// Corner is true once its pool, user, token and volume owner are in Proxmox VE.
	Corner bool
	// Conditions are ControlPlaneInitialized, ControlPlaneAvailable, RemoteConnectionProbe and TopologyReconciled.
	Conditions []metav1.Condition
}

// ControlPlane is a live KubeadmControlPlane.
type ControlPlane struct {
	// Cluster is its cluster's name.
	Cluster string
	// Created is when it was made; Cluster API makes it once the agent's hooks let the cluster begin.
	Created time.Time
	// Version is the Kubernetes version that it runs.
	Version string
}

// Deployment is a live MachineDeployment, a worker pool.
type Deployment struct {
	// Cluster is its cluster's name, Pool the pool's.
	Cluster, Pool string
	// Created is when it was made.
	Created time.Time
}

// Machine is a live Machine and the VM that the provider made of it.
type Machine struct {
	// Name is the machine's and its VM's; Cluster is its cluster's name.
	Name, Cluster string
	// ControlPlane is true for a control-plane machine; Pool is the worker pool of any other.
	ControlPlane bool
	Pool         string
	// Created is when it was made, Leaving when its deletion was asked for; zero while it stays.
	Created, Leaving time.Time
	// Draining is true while a machine that leaves is being emptied.
	Draining bool
	// Version is the Kubernetes version that it has or gets.
	Version string
	// Joined is true once a node belongs to it.
	Joined bool
	// NodeReady, Current and Infrastructure are its conditions NodeReady, UpToDate and InfrastructureReady; nil before there are any.
	NodeReady, Current, Infrastructure *metav1.Condition
	// VM is what the provider made of it; nil before there is any.
	VM *VM

	vm string // the ProxmoxMachine's name
}

// Ready is true while the machine's node is ready and nobody has asked it to go.
func (m *Machine) Ready() bool {
	return m.Joined && m.Leaving.IsZero() && m.NodeReady != nil && m.NodeReady.Status == metav1.ConditionTrue
}

// UpToDate is true for a machine that is as the cluster is to be, as far as Cluster API has said.
func (m *Machine) UpToDate() bool {
	return m.Current == nil || m.Current.Status != metav1.ConditionFalse
}

// VM is a live ProxmoxMachine.
type VM struct {
	// Cluster is its cluster's name.
	Cluster string
	// ID is the VMID; 0 before there is one.
	ID int
	// Node is the Proxmox VE node that the provider has recorded.
	Node string
	// Address is the VM's first internal address; empty before it has one.
	Address string
	// CPU, MemoryBytes and DiskBytes are how large it is to be; 0 where the provider is not told.
	CPU                    int64
	MemoryBytes, DiskBytes int64
	// Provisioned is the condition VirtualMachineProvisioned, whose reason is the provider's state; nil before there is any.
	Provisioned *metav1.Condition
}

// Event is something that happened to an object of a cluster.
type Event struct {
	// Time is when it happened last.
	Time time.Time
	// Type is Normal or Warning.
	Type string
	// Reason is one CamelCase word, Message the sentence.
	Reason, Message string
	// Kind and Name are the object's.
	Kind, Name string
	// Count is how often it happened, 1 at least.
	Count int
}

// Cluster is all that live objects say of one cluster. What is not there is nil.
type Cluster struct {
	Claim        *Claim
	Object       *Object
	ControlPlane *ControlPlane
	Deployments  []*Deployment
	// Machines are the control plane's first, then by age.
	Machines []*Machine
	// Events are the newest first.
	Events []Event
}
