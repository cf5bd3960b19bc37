// Package machinestest is a management cluster in memory for tests: clusters with their machines and VMs, written as
// Cluster API and its provider would.
package machinestest

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
)

// World is the management cluster.
type World struct {
	t testing.TB
	// Client is its API.
	Client client.WithWatch
}

// New is an empty management cluster.
func New(t testing.TB) *World {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	scheme.AddKnownTypeWithName(machines.Kind, &unstructured.Unstructured{})
	scheme.AddKnownTypeWithName(machines.Kind.GroupVersion().WithKind(machines.Kind.Kind+"List"), &unstructured.UnstructuredList{})
	return &World{t: t, Client: fake.NewClientBuilder().WithScheme(scheme).Build()}
}

// Machine is a machine as it is to be. Its VM has its name.
type Machine struct {
	Cluster types.NamespacedName
	Name    string
	// ControlPlane makes it a control-plane machine; otherwise it is one of the pool "workers".
	ControlPlane bool
	Created      time.Time
	// Joined gives it a node that is ready, unless NotReady.
	Joined, NotReady bool
	// Annotations are the Machine's.
	Annotations map[string]string
	// Owner is what its owner says about its remediation.
	Owner string
	// Deleting is the reason of its condition Deleting; empty for none.
	Deleting string

	// VMID and Node are what the provider recorded; Reason and Message its state.
	VMID                         int
	Node                         string
	Reason, Message              string
	Provisioned, Addressed, Busy bool
}

// Claim makes a live claim; change may be nil.
func (w *World) Claim(key types.NamespacedName, change func(*v1alpha1.ClusterClaim)) {
	w.t.Helper()
	c := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID("claim-" + key.Name)}}
	if change != nil {
		change(c)
	}
	w.put(c)
}

// Cluster makes a Cluster whose control plane has answered and answers; change may be nil.
func (w *World) Cluster(key types.NamespacedName, change func(*clusterv1.Cluster)) {
	w.t.Helper()
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID("cluster-" + key.Name),
		Labels: map[string]string{v1alpha1.ClaimLabel: key.Name}, Finalizers: []string{clusterv1.ClusterFinalizer}}}
	c.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
	c.Status.Conditions = []metav1.Condition{{Type: clusterv1.ClusterRemoteConnectionProbeCondition, Status: metav1.ConditionTrue}}
	if change != nil {
		change(c)
	}
	w.put(c)
}

// Put makes a machine and its VM, or brings them to what is given. Annotations that others set stay.
func (w *World) Put(m Machine) {
	w.t.Helper()
	labels := map[string]string{clusterv1.ClusterNameLabel: m.Cluster.Name}
	if m.ControlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
	} else {
		labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel] = "workers"
	}
	o := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: m.Cluster.Namespace, Name: m.Name, UID: types.UID("machine-" + m.Name), Labels: labels,
		CreationTimestamp: metav1.NewTime(m.Created), Finalizers: []string{clusterv1.MachineFinalizer}, Annotations: m.Annotations}}
	o.Spec.InfrastructureRef.Name = m.Name
	if m.Joined {
		o.Status.NodeRef.Name = m.Name
		ready := metav1.ConditionTrue
		if m.NotReady {
			ready = metav1.ConditionFalse
		}
		o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{Type: clusterv1.MachineNodeReadyCondition, Status: ready})
	}
	if m.Owner != "" {
		o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{Type: clusterv1.MachineOwnerRemediatedCondition, Status: metav1.ConditionFalse, Message: m.Owner})
	}
	if m.Deleting != "" {
		o.Status.Conditions = append(o.Status.Conditions, metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: m.Deleting})
	}
	w.put(o)
	w.put(m.vm(labels))
}

// vm is the machine's ProxmoxMachine.
func (m Machine) vm(labels map[string]string) *unstructured.Unstructured {
	status := map[string]any{
		"conditions":     []any{map[string]any{"type": "VirtualMachineProvisioned", "status": "False", "reason": m.Reason, "message": m.Message}},
		"initialization": map[string]any{"provisioned": m.Provisioned},
	}
	if m.Node != "" {
		status["proxmoxNode"] = m.Node
	}
	if m.Addressed {
		status["addresses"] = []any{map[string]any{"type": "InternalIP", "address": "10.0.40.50"}}
	}
	if m.Busy {
		status["taskRef"] = "UPID:pve1:00000001:00000001:00000001:qmclone:20000:root@pam:"
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}, "status": status}}
	if m.VMID != 0 {
		u.Object["spec"] = map[string]any{"virtualMachineID": int64(m.VMID)}
	}
	u.SetGroupVersionKind(machines.Kind)
	u.SetNamespace(m.Cluster.Namespace)
	u.SetName(m.Name)
	u.SetUID(types.UID("vm-" + m.Name))
	u.SetLabels(labels)
	return u
}

// put creates an object, or replaces it and keeps the annotations that it has.
func (w *World) put(o client.Object) {
	w.t.Helper()
	live, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		w.t.Fatalf("%T is no object", o)
	}
	if err := w.Client.Get(w.t.Context(), client.ObjectKeyFromObject(o), live); err != nil {
		if err := w.Client.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	annotations := live.GetAnnotations()
	for name, value := range o.GetAnnotations() {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[name] = value
	}
	o.SetAnnotations(annotations)
	o.SetResourceVersion(live.GetResourceVersion())
	o.SetDeletionTimestamp(live.GetDeletionTimestamp())
	if err := w.Client.Update(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// Live is a Machine; nil when it is gone.
func (w *World) Live(key types.NamespacedName) *clusterv1.Machine {
	w.t.Helper()
	m := &clusterv1.Machine{}
	return found(w, key, m)
}

// LiveCluster is a Cluster; nil when it is gone.
func (w *World) LiveCluster(key types.NamespacedName) *clusterv1.Cluster {
	w.t.Helper()
	return found(w, key, &clusterv1.Cluster{})
}

// LiveClaim is a claim; nil when it is gone.
func (w *World) LiveClaim(key types.NamespacedName) *v1alpha1.ClusterClaim {
	w.t.Helper()
	return found(w, key, &v1alpha1.ClusterClaim{})
}

// LiveVM is a ProxmoxMachine; nil when it is gone.
func (w *World) LiveVM(key types.NamespacedName) *unstructured.Unstructured {
	w.t.Helper()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(machines.Kind)
	return found(w, key, u)
}

func found[T client.Object](w *World, key types.NamespacedName, o T) T {
	w.t.Helper()
	var none T
	err := w.Client.Get(w.t.Context(), key, o)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	if err != nil {
		return none
	}
	return o
}

// Delete asks for an object's deletion, which its finalizers hold up.
func (w *World) Delete(o client.Object) {
	w.t.Helper()
	if err := w.Client.Delete(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// Remove takes a Machine and its VM away for good.
func (w *World) Remove(key types.NamespacedName) {
	w.t.Helper()
	ctx := w.t.Context()
	if m := w.Live(key); m != nil {
		m.Finalizers = nil
		if err := w.Client.Update(ctx, m); err != nil {
			w.t.Fatal(err)
		}
		_ = w.Client.Delete(ctx, m) // one that was being deleted is gone with its finalizer
	}
	if vm := w.LiveVM(key); vm != nil {
		w.Delete(vm)
	}
}

// Key is a namespace and a name.
func Key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// Names makes n names such as shop-cp-1.
func Names(prefix string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i+1)
	}
	return names
}
