package machines

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

// Kind is capmox's machine; its module cannot be imported.
var Kind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha2", Kind: "ProxmoxMachine"}

// Machine is one machine of a cluster, as live objects have it.
type Machine struct {
	// Namespace, Name and UID are the Machine's, Cluster its cluster's name.
	Namespace, Name, Cluster string
	UID                      types.UID
	// ControlPlane is true for a control-plane machine; Pool is the worker pool of any other.
	ControlPlane bool
	Pool         string
	// Created is when the Machine was made.
	Created time.Time
	// Leaving is when its deletion was asked for; zero while it stays.
	Leaving time.Time
	// Held is true once nothing but pre-terminate hooks stands between the Machine and its VM's deletion.
	Held bool
	// Joined is true once a node of the cluster belongs to it, Ready while that node is ready.
	Joined, Ready bool
	// Hooked is true while the HA hook holds its deletion; Hook is that annotation's value.
	Hooked bool
	Hook   string
	// Marked is true while it is to be remediated.
	Marked bool
	// Exempt is true where a person has forbidden its remediation, Paused where Cluster API leaves it alone.
	Exempt, Paused bool
	// Owner is what the Machine's owner says about a remediation that was asked for; empty when nothing.
	Owner string
	// VM is what the provider has made of it.
	VM VM
}

// VM is what capmox says of a machine's VM.
type VM struct {
	// Name is the ProxmoxMachine's and the VM's; empty before there is one.
	Name string
	UID  types.UID
	// ID is the VMID; 0 before the clone call was answered.
	ID int
	// Node is the Proxmox VE node that the provider has recorded.
	Node string
	// Mark is the node that the provider was told to look on; empty mostly.
	Mark string
	// Provisioned is true once the provider takes the VM for ready, Addressed once it gave it an address.
	Provisioned, Addressed bool
	// Busy is true while the provider follows a task of Proxmox VE.
	Busy bool
	// Done is true when the condition VirtualMachineProvisioned holds; Reason and Message are that condition's, the
	// reason being capmox's state machine (api/v1alpha2/conditions_consts.go).
	Done            bool
	Reason, Message string
}

// Key is the cluster that the machine belongs to.
func (m *Machine) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Cluster}
}

// Staying is true for a machine that nobody has asked to go.
func (m *Machine) Staying() bool { return m.Leaving.IsZero() }

func newMachine(m *clusterv1.Machine) *Machine {
	_, plane := m.Labels[clusterv1.MachineControlPlaneLabel]
	out := &Machine{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, Cluster: m.Labels[clusterv1.ClusterNameLabel],
		ControlPlane: plane, Pool: m.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel], Created: m.CreationTimestamp.Time,
		Joined: m.Status.NodeRef.IsDefined(), Ready: meta.IsStatusConditionTrue(m.Status.Conditions, clusterv1.MachineNodeReadyCondition),
		Hooked: has(m.Annotations, v1alpha1.HAHookAnnotation), Hook: m.Annotations[v1alpha1.HAHookAnnotation], Marked: has(m.Annotations, clusterv1.RemediateMachineAnnotation),
		Exempt: has(m.Annotations, clusterv1.MachineSkipRemediationAnnotation), Paused: has(m.Annotations, clusterv1.PausedAnnotation),
	}
	if !m.DeletionTimestamp.IsZero() {
		out.Leaving = m.DeletionTimestamp.Time
	}
	if c := meta.FindStatusCondition(m.Status.Conditions, clusterv1.DeletingCondition); c != nil {
		out.Held = c.Reason == clusterv1.MachineDeletingWaitingForPreTerminateHookReason
	}
	if c := meta.FindStatusCondition(m.Status.Conditions, clusterv1.MachineOwnerRemediatedCondition); c != nil {
		out.Owner = c.Message
	}
	return out
}

func has(annotations map[string]string, name string) bool {
	_, there := annotations[name]
	return there
}

// provisioned is the condition whose reason is capmox's state machine.
const provisioned = "VirtualMachineProvisioned"

func newVM(u *unstructured.Unstructured) VM {
	vm := VM{Name: u.GetName(), UID: u.GetUID(), ID: number(u.Object, "spec", "virtualMachineID"), Mark: u.GetAnnotations()[v1alpha1.ProxmoxNodeAnnotation]}
	vm.Node, _, _ = unstructured.NestedString(u.Object, "status", "proxmoxNode")
	vm.Provisioned, _, _ = unstructured.NestedBool(u.Object, "status", "initialization", "provisioned")
	addresses, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "addresses")
	list, _ := addresses.([]any)
	vm.Addressed = len(list) > 0
	task, _, _ := unstructured.NestedString(u.Object, "status", "taskRef")
	vm.Busy = task != ""
	vm.condition(u)
	return vm
}

func (vm *VM) condition(u *unstructured.Unstructured) {
	conditions, _, _ := unstructured.NestedFieldNoCopy(u.Object, "status", "conditions")
	list, _ := conditions.([]any)
	for _, item := range list {
		c, ok := item.(map[string]any)
		if !ok || c["type"] != provisioned {
			continue
		}
		vm.Done = c["status"] == string(metav1.ConditionTrue)
		vm.Reason, _ = c["reason"].(string)
		vm.Message, _ = c["message"].(string)
	}
}

// number reads a whole number, which JSON decoders make an int64 or a float64.
func number(o map[string]any, path ...string) int {
	value, _, _ := unstructured.NestedFieldNoCopy(o, path...)
	switch n := value.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}
