package sync

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kubehenge.dev/agent/apply"
	"kubehenge.dev/api/v1alpha1"
)

// CacheOptions keep of each watched object what the agent reads, so that 1,000 clusters stay small. Managed fields
// are kept as far as they are of our own manager or can name who took a field from it.
func CacheOptions() cache.Options {
	return cache.Options{
		DefaultTransform: strip(dropLastApplied),
		ByObject: map[client.Object]cache.ByObject{
			&clusterv1.Machine{}:                  {Transform: strip(dropManaged, keepAnnotations, trimMachine)},
			&controlplanev1.KubeadmControlPlane{}: {Transform: strip(dropManaged, dropAnnotations, trimControlPlane)},
			vmObject():                            {Transform: strip(dropManaged, keepAnnotations, trimVM)},
		},
	}
}

func strip(steps ...func(metav1.Object)) toolscache.TransformFunc {
	return func(in any) (any, error) {
		if o, ok := in.(metav1.Object); ok {
			for _, step := range steps {
				step(o)
			}
		}
		return in, nil
	}
}

func dropManaged(o metav1.Object) { o.SetManagedFields(nil) }

func dropAnnotations(o metav1.Object) { o.SetAnnotations(nil) }

// keptAnnotations are those of machines that agent/machines reads.
var keptAnnotations = []string{
	clusterv1.RemediateMachineAnnotation, clusterv1.MachineSkipRemediationAnnotation, clusterv1.PausedAnnotation,
	v1alpha1.HAHookAnnotation, v1alpha1.ProxmoxNodeAnnotation,
}

func keepAnnotations(o metav1.Object) {
	var kept map[string]string
	for _, name := range keptAnnotations {
		if value, there := o.GetAnnotations()[name]; there {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[name] = value
		}
	}
	o.SetAnnotations(kept)
}

// dropLastApplied drops kubectl's copy of the object, and the managed fields of status writers: they can take no
// field of ours.
func dropLastApplied(o metav1.Object) {
	annotations := o.GetAnnotations()
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	o.SetManagedFields(apply.WithoutStatus(o.GetManagedFields()))
}

func trimMachine(o metav1.Object) {
	m, ok := o.(*clusterv1.Machine)
	if !ok {
		return
	}
	m.OwnerReferences = nil
	m.Spec = clusterv1.MachineSpec{Version: m.Spec.Version, InfrastructureRef: m.Spec.InfrastructureRef}
	m.Status = clusterv1.MachineStatus{NodeRef: m.Status.NodeRef, Conditions: keepConditions(m.Status.Conditions,
		clusterv1.MachineNodeReadyCondition, clusterv1.MachineUpToDateCondition, clusterv1.DeletingCondition, clusterv1.MachineOwnerRemediatedCondition)}
}

func trimControlPlane(o metav1.Object) {
	p, ok := o.(*controlplanev1.KubeadmControlPlane)
	if !ok {
		return
	}
	p.OwnerReferences = nil
	p.Spec = controlplanev1.KubeadmControlPlaneSpec{}
	p.Status = controlplanev1.KubeadmControlPlaneStatus{Version: p.Status.Version}
}

func keepConditions(all []metav1.Condition, kinds ...string) []metav1.Condition {
	var kept []metav1.Condition
	for _, c := range all {
		for _, k := range kinds {
			if c.Type == k {
				kept = append(kept, c)
			}
		}
	}
	return kept
}

// trimVM keeps what agent/machines and agent/status read of a ProxmoxMachine; the rest of it is large and of no use here.
func trimVM(o metav1.Object) {
	u, ok := o.(*unstructured.Unstructured)
	if !ok {
		return
	}
	u.SetOwnerReferences(nil)
	keepFields(u, "spec", "virtualMachineID")
	keepFields(u, "status", "conditions", "proxmoxNode", "initialization", "addresses", "taskRef")
}

// keepFields drops all of a part of the object but some fields, and the part where it has none of them.
func keepFields(u *unstructured.Unstructured, part string, fields ...string) {
	all, _ := u.Object[part].(map[string]any)
	kept := map[string]any{}
	for _, f := range fields {
		if value, there := all[f]; there {
			kept[f] = value
		}
	}
	if len(kept) == 0 {
		delete(u.Object, part)
		return
	}
	u.Object[part] = kept
}

// matters drops updates that change nothing which the agent reads.
var matters = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
		return true // a resync
	}
	return !reflect.DeepEqual(unversioned(e.ObjectOld), unversioned(e.ObjectNew))
}}

func unversioned(o client.Object) client.Object {
	o, _ = o.DeepCopyObject().(client.Object)
	o.SetResourceVersion("")
	return o
}
