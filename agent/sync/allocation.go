package sync

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/agent/apply"
	"kubehenge.dev/api/v1alpha1"
)

// allocate reserves addresses and VMIDs, unless that was done for the same rendered bytes.
func (r *Reconciler) allocate(ctx context.Context, s *scope) error {
	if !s.keeps() || s.claim == nil {
		return nil
	}
	if a := r.reservedFor(s); a != nil {
		s.allocation = a
		return nil
	}
	a, err := r.Allocator.Ensure(ctx, allocation.Request{
		Namespace: s.key.Namespace, Name: s.key.Name,
		Fleet: s.desired.Fleet, Network: s.wanted.Claim.Spec.Network, Nodes: s.wanted.Need.Addresses(),
		ClusterExists: s.cluster != nil, Known: s.claim.Status.Allocation,
	})
	if err != nil {
		return fmt.Errorf("reserve addresses for %s: %w", s.key, err)
	}
	s.allocation = a
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	r.known.reserved[s.key] = reservation{digest: s.wanted.Digest, allocation: *a}
	return nil
}

// reservedFor is the allocation that is already made for the wanted bytes: by this process, or, after a restart, by
// an earlier one that went on to apply the Cluster from them.
func (r *Reconciler) reservedFor(s *scope) *v1alpha1.Allocation {
	r.known.mu.Lock()
	got, ok := r.known.reserved[s.key]
	r.known.mu.Unlock()
	if ok && got.digest == s.wanted.Digest {
		return got.allocation.DeepCopy()
	}
	if s.cluster != nil && s.cluster.Annotations[apply.DigestAnnotation] == s.wanted.Digest && s.claim.Status.Allocation != nil {
		return s.claim.Status.Allocation
	}
	return nil
}

func (r *Reconciler) forgetReservation(s *scope) {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	delete(r.known.reserved, s.key)
}

func (r *Reconciler) forgetRefusal(key types.NamespacedName) {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	delete(r.known.refused, key)
}

// setAllocation adds the variable that the class takes addresses and VMIDs from. It is there from the first
// apply, since adding it later would replace every machine.
func setAllocation(cluster *unstructured.Unstructured, a *v1alpha1.Allocation) error {
	if a == nil {
		return fmt.Errorf("there is no allocation")
	}
	variables, _, err := unstructured.NestedSlice(cluster.Object, "spec", "topology", "variables")
	if err != nil {
		return err
	}
	addresses := make([]any, 0, len(a.Addresses))
	for _, address := range a.Addresses {
		addresses = append(addresses, address)
	}
	variables = append(variables, map[string]any{
		"name": v1alpha1.AllocationVariable,
		"value": map[string]any{
			"addresses": addresses,
			"vmIDs":     map[string]any{"start": int64(a.VMIDs.Start), "end": int64(a.VMIDs.End)},
		},
	})
	return unstructured.SetNestedSlice(cluster.Object, variables, "spec", "topology", "variables")
}

// raisedVersion is the live Kubernetes version where it is above the wanted one: Cluster API does not lower it
// ("version cannot be decreased", its Cluster webhook), so it stays and the claim says so. Empty otherwise.
func raisedVersion(want *unstructured.Unstructured, live *clusterv1.Cluster) string {
	if live == nil {
		return ""
	}
	version, _, _ := unstructured.NestedString(want.Object, "spec", "topology", "version")
	wanted, err := semver.ParseTolerant(version)
	if err != nil {
		return ""
	}
	is, err := semver.ParseTolerant(live.Spec.Topology.Version)
	if err != nil || !is.GT(wanted) {
		return ""
	}
	return live.Spec.Topology.Version
}
