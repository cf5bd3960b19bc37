package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// Cluster is a cluster of a claim's with its machines.
type Cluster struct {
	// Key is the claim's and the Cluster's namespace and name.
	Key types.NamespacedName
	// Object is the live Cluster; nil once it is gone. It is shared with the cache: read only.
	Object *clusterv1.Cluster
	// Machines are its machines by name.
	Machines []*Machine
	// Strays are VMs of the provider's that belong to no Machine, such as one whose Machine was removed by force.
	Strays []VM
}

// Leaving is true for a cluster that is being deleted or gone.
func (c *Cluster) Leaving() bool { return c.Object == nil || !c.Object.DeletionTimestamp.IsZero() }

// Paused is true while Cluster API leaves the cluster alone.
func (c *Cluster) Paused() bool { return c.Object != nil && ptr.Deref(c.Object.Spec.Paused, false) }

// Initialized is true once the control plane has answered for the first time.
func (c *Cluster) Initialized() bool {
	return c.Object != nil && ptr.Deref(c.Object.Status.Initialization.ControlPlaneInitialized, false)
}

// Reachable is true while Cluster API can talk to the cluster's API server.
func (c *Cluster) Reachable() bool {
	return c.Object != nil && meta.IsStatusConditionTrue(c.Object.Status.Conditions, clusterv1.ClusterRemoteConnectionProbeCondition)
}

// ControlPlane are its control-plane machines.
func (c *Cluster) ControlPlane() []*Machine {
	return slices.DeleteFunc(slices.Clone(c.Machines), func(m *Machine) bool { return !m.ControlPlane })
}

// List reads all clusters of claims, by key. Objects are shared with the reader's cache.
func List(ctx context.Context, r client.Reader) (map[types.NamespacedName]*Cluster, error) {
	var clusters clusterv1.ClusterList
	var list clusterv1.MachineList
	vms := unstructured.UnstructuredList{}
	vms.SetGroupVersionKind(Kind.GroupVersion().WithKind(Kind.Kind + "List"))
	// The order matters: a machine that comes in between is then left out, and no machine loses its VM.
	err := errors.Join(r.List(ctx, &clusters, client.UnsafeDisableDeepCopy), r.List(ctx, &list, client.UnsafeDisableDeepCopy),
		r.List(ctx, &vms, client.UnsafeDisableDeepCopy))
	if err != nil {
		return nil, fmt.Errorf("read the machines of all clusters: %w", err)
	}
	all := map[types.NamespacedName]*Cluster{}
	for i := range clusters.Items {
		c := &clusters.Items[i]
		if c.Labels[v1alpha1.ClaimLabel] != "" {
			key := client.ObjectKeyFromObject(c)
			all[key] = &Cluster{Key: key, Object: c}
		}
	}
	join(all, list.Items, vms.Items)
	return all, nil
}

// join puts machines and VMs into their clusters. A Cluster outlives its Machines, so that those of none are somebody else's.
func join(all map[types.NamespacedName]*Cluster, list []clusterv1.Machine, vms []unstructured.Unstructured) {
	byName := map[types.NamespacedName]*unstructured.Unstructured{}
	for i := range vms {
		byName[client.ObjectKeyFromObject(&vms[i])] = &vms[i]
	}
	for i := range list {
		m := newMachine(&list[i])
		c := all[m.Key()]
		if c == nil {
			continue
		}
		at := types.NamespacedName{Namespace: m.Namespace, Name: list[i].Spec.InfrastructureRef.Name}
		if vm := byName[at]; vm != nil {
			m.VM = newVM(vm)
			delete(byName, at)
		}
		c.Machines = append(c.Machines, m)
	}
	for at, vm := range byName {
		if c := all[types.NamespacedName{Namespace: at.Namespace, Name: vm.GetLabels()[clusterv1.ClusterNameLabel]}]; c != nil {
			c.Strays = append(c.Strays, newVM(vm))
		}
	}
	for _, c := range all {
		slices.SortFunc(c.Machines, func(a, b *Machine) int { return cmp.Compare(a.Name, b.Name) })
		slices.SortFunc(c.Strays, func(a, b VM) int { return cmp.Compare(a.Name, b.Name) })
	}
}
