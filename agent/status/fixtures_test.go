package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

// now is when all tests look; at is when most things happened.
var (
	now = time.Date(2026, 11, 30, 12, 30, 0, 0, time.UTC)
	at  = time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC)
)

// input is a claim for three control-plane nodes and two workers, applied, with a Cluster, and no machine yet.
func input(changes ...func(*Input)) Input {
	claim := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop"}}
	claim.Spec = v1alpha1.ClusterClaimSpec{Class: "kubeadm-1", Version: "v1.36.3", ControlPlane: v1alpha1.ControlPlane{Replicas: 3}, Workers: &v1alpha1.Workers{Replicas: 2}}
	in := Input{Claim: claim, Applied: true, Now: now, Allocation: &v1alpha1.Allocation{Network: "lan"}, Cluster: &clusterv1.Cluster{}, Revision: "c1"}
	in.Cluster.Spec.Topology.ClassRef.Name = "kubeadm-1"
	for _, change := range changes {
		change(&in)
	}
	return in
}

func together(changes ...func(*Input)) func(*Input) {
	return func(in *Input) {
		for _, change := range changes {
			change(in)
		}
	}
}

// ranOnce is a claim whose cluster had all nodes before.
func ranOnce(in *Input) {
	in.Claim.Status.Phase = v1alpha1.PhaseRunning
	in.Claim.Status.Conditions = append(in.Claim.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionUpToDate, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(at)})
}

func available(in *Input) {
	for _, kind := range []string{clusterv1.ClusterControlPlaneAvailableCondition, clusterv1.ClusterRemoteConnectionProbeCondition} {
		in.Cluster.Status.Conditions = append(in.Cluster.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	}
	in.ControlPlane = &controlplanev1.KubeadmControlPlane{}
	in.ControlPlane.Status.Version = "v1.36.3"
}

func noCluster(in *Input) { in.Cluster = nil }

func wantsVersion(v string) func(*Input) { return func(in *Input) { in.Claim.Spec.Version = v } }

func stop(step Step, kind Kind, reason, message string) func(*Input) {
	return func(in *Input) { in.Stop = &Stop{Step: step, Kind: kind, Reason: reason, Message: message} }
}

// since1203 is a status that was written when the condition became what it is.
func since1203(kind, reason string) func(*Input) {
	return func(in *Input) {
		in.Claim.Status.Conditions = append(in.Claim.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, LastTransitionTime: metav1.NewTime(at)})
	}
}

func topology(reason, message string) func(*Input) {
	return func(in *Input) {
		in.Cluster.Status.Conditions = append(in.Cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ClusterTopologyReconciledCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message})
	}
}

// machine adds a machine with its VM; pool is empty for the control plane.
func machine(name, pool string, how ...func(*clusterv1.Machine, *unstructured.Unstructured)) func(*Input) {
	return func(in *Input) {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, Labels: map[string]string{}}}
		m.CreationTimestamp = metav1.NewTime(at.Add(time.Duration(len(in.Machines)) * time.Second))
		if pool == "" {
			m.Labels[clusterv1.MachineControlPlaneLabel] = ""
		} else {
			m.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel] = pool
		}
		m.Spec.Version, m.Spec.InfrastructureRef.Name = "v1.36.3", name
		vm := &unstructured.Unstructured{Object: map[string]any{}}
		vm.SetName(name)
		for _, h := range how {
			h(m, vm)
		}
		in.Machines = append(in.Machines, m)
		in.VMs = append(in.VMs, vm)
	}
}

// vmIs gives a VM the condition that capmox writes.
func vmIs(reason, message string) func(*clusterv1.Machine, *unstructured.Unstructured) {
	return func(_ *clusterv1.Machine, vm *unstructured.Unstructured) {
		status := "False"
		if reason == "Provisioned" {
			status = "True"
		}
		vm.Object["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": status, "reason": "x"},
			map[string]any{"type": vmProvisioned, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-11-30T12:03:00Z"},
		}}
	}
}

func node(ready metav1.ConditionStatus) func(*clusterv1.Machine, *unstructured.Unstructured) {
	return func(m *clusterv1.Machine, vm *unstructured.Unstructured) {
		vmIs("Provisioned", "")(m, vm)
		m.Status.NodeRef.Name = m.Name
		m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: clusterv1.MachineNodeReadyCondition, Status: ready, LastTransitionTime: metav1.NewTime(at)})
	}
}

func outdated(m *clusterv1.Machine, _ *unstructured.Unstructured) {
	m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionFalse})
}

func version(v string) func(*clusterv1.Machine, *unstructured.Unstructured) {
	return func(m *clusterv1.Machine, _ *unstructured.Unstructured) { m.Spec.Version = v }
}

func leavingSince(reason string) func(*clusterv1.Machine, *unstructured.Unstructured) {
	return func(m *clusterv1.Machine, _ *unstructured.Unstructured) {
		t := metav1.NewTime(at)
		m.DeletionTimestamp = &t
		m.Status.Conditions = append(m.Status.Conditions, metav1.Condition{Type: clusterv1.DeletingCondition, Status: metav1.ConditionTrue, Reason: reason})
	}
}

var ready = node(metav1.ConditionTrue)

// fiveReady are all the machines that the claim asks for, with ready nodes.
func fiveReady(in *Input) {
	for _, name := range []string{"shop-cp-a", "shop-cp-b", "shop-cp-c"} {
		machine(name, "", ready)(in)
	}
	machine("shop-workers-a", "workers", ready)(in)
	machine("shop-workers-b", "workers", ready)(in)
	available(in)
}

// notice is said by another part at 12:03.
func notice(kind Kind, sentence string) func(*Input) {
	return func(in *Input) {
		in.Notices = append(in.Notices, Notice{Kind: kind, Sentence: sentence, Since: at})
	}
}
