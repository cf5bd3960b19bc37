package live

import (
	"slices"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

func trimClaim(c *v1alpha1.ClusterClaim) *Claim {
	out := &Claim{Created: c.CreationTimestamp.Time, Spec: c.Spec, Status: c.Status}
	out.Status.Inventory = nil
	return out
}

func trimFleet(f *v1alpha1.Fleet) *Fleet { return &Fleet{Status: f.Status} }

func trimCluster(c *clusterv1.Cluster) *Object {
	return &Object{Created: c.CreationTimestamp.Time, Leaving: timeOf(c.DeletionTimestamp), Corner: c.Annotations[v1alpha1.CornerAnnotation] == v1alpha1.CornerReady,
		Conditions: keep(c.Status.Conditions, clusterv1.ClusterControlPlaneInitializedCondition, clusterv1.ClusterControlPlaneAvailableCondition,
			clusterv1.ClusterRemoteConnectionProbeCondition, clusterv1.ClusterTopologyReconciledCondition)}
}

func trimControlPlane(p *controlplanev1.KubeadmControlPlane) *ControlPlane {
	return &ControlPlane{Cluster: clusterOf(p), Created: p.CreationTimestamp.Time, Version: p.Status.Version}
}

func trimDeployment(d *clusterv1.MachineDeployment) *Deployment {
	return &Deployment{Cluster: clusterOf(d), Pool: d.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel], Created: d.CreationTimestamp.Time}
}

func trimMachine(m *clusterv1.Machine) *Machine {
	_, plane := m.Labels[clusterv1.MachineControlPlaneLabel]
	out := &Machine{Name: m.Name, Cluster: clusterOf(m), ControlPlane: plane, Pool: m.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel],
		Created: m.CreationTimestamp.Time, Leaving: timeOf(m.DeletionTimestamp), Version: m.Spec.Version, Joined: m.Status.NodeRef.IsDefined(), vm: m.Spec.InfrastructureRef.Name,
		NodeReady: find(m.Status.Conditions, clusterv1.MachineNodeReadyCondition), Current: find(m.Status.Conditions, clusterv1.MachineUpToDateCondition),
		Infrastructure: find(m.Status.Conditions, clusterv1.MachineInfrastructureReadyCondition)}
	if c := meta.FindStatusCondition(m.Status.Conditions, clusterv1.DeletingCondition); c != nil {
		out.Draining = c.Reason == clusterv1.MachineDeletingDrainingNodeReason
	}
	return out
}

// vmProvisioned is the condition whose reason is capmox's state machine (api/v1alpha2/conditions_consts.go).
const vmProvisioned = "VirtualMachineProvisioned"

func trimVM(u *unstructured.Unstructured) *VM {
	vm := &VM{Cluster: clusterOf(u)}
	field := func(path ...string) int {
		value, _, _ := unstructured.NestedFieldNoCopy(u.Object, append([]string{"spec"}, path...)...)
		return number(value)
	}
	vm.ID = field("virtualMachineID")
	vm.CPU = int64(field("numCores") * max(1, field("numSockets")))
	vm.MemoryBytes, vm.DiskBytes = int64(field("memoryMiB"))<<20, int64(field("disks", "bootVolume", "sizeGb"))<<30
	vm.Node, _, _ = unstructured.NestedString(u.Object, "status", "proxmoxNode")
	for _, a := range maps(u, "status", "addresses") {
		if address, _ := a["address"].(string); vm.Address == "" && a["type"] == "InternalIP" {
			vm.Address = address
		}
	}
	for _, c := range maps(u, "status", "conditions") {
		if c["type"] == vmProvisioned {
			vm.Provisioned = condition(c)
		}
	}
	return vm
}

// maps are the maps of a list of an object.
func maps(u *unstructured.Unstructured, path ...string) []map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	list, _ := value.([]any)
	all := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func condition(fields map[string]any) *metav1.Condition {
	text := func(name string) string { s, _ := fields[name].(string); return s }
	c := &metav1.Condition{Type: vmProvisioned, Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message")}
	if at, err := time.Parse(time.RFC3339, text("lastTransitionTime")); err == nil {
		c.LastTransitionTime = metav1.NewTime(at)
	}
	return c
}

// number reads a whole number, which JSON decoders make an int64 or a float64.
func number(value any) int {
	switch n := value.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	}
	return 0
}

// shownKinds are the kinds whose events are shown.
var shownKinds = []string{"ClusterClaim", "Cluster", "KubeadmControlPlane", "MachineDeployment", "Machine", "ProxmoxMachine"}

// trimEvent is nil for an event of something that is not shown. An event that happens again is counted in one of two ways, the old and the new API's.
func trimEvent(e *eventsv1.Event) *Event {
	if !slices.Contains(shownKinds, e.Regarding.Kind) {
		return nil
	}
	out := &Event{Time: e.EventTime.Time, Type: e.Type, Reason: e.Reason, Message: e.Note, Kind: e.Regarding.Kind, Name: e.Regarding.Name, Count: max(1, int(e.DeprecatedCount))}
	if at := e.DeprecatedLastTimestamp.Time; at.After(out.Time) {
		out.Time = at
	}
	if e.Series != nil {
		out.Time, out.Count = e.Series.LastObservedTime.Time, int(e.Series.Count)
	}
	if out.Time.IsZero() {
		out.Time = e.CreationTimestamp.Time
	}
	return out
}

func clusterOf(o client.Object) string { return o.GetLabels()[clusterv1.ClusterNameLabel] }

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// find is a copy of a condition, so that the list it is in can go; nil where there is none.
func find(all []metav1.Condition, kind string) *metav1.Condition {
	c := meta.FindStatusCondition(all, kind)
	if c == nil {
		return nil
	}
	return c.DeepCopy()
}

func keep(all []metav1.Condition, kinds ...string) []metav1.Condition {
	var kept []metav1.Condition
	for _, c := range all {
		if slices.Contains(kinds, c.Type) {
			kept = append(kept, c)
		}
	}
	return kept
}
