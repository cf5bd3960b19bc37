package sync

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// report writes the claim's status, when it changed. It is the one place that does.
func (r *Reconciler) report(ctx context.Context, s *scope) error {
	if s.claim == nil || s.removed {
		return nil
	}
	next, err := r.statusOf(ctx, s)
	if err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(s.claim.Status, next) {
		return nil
	}
	err = writeStatus(ctx, r.Client, claimObject(s.key), next)
	if apierrors.IsNotFound(err) {
		return nil // the claim was removed meanwhile
	}
	if err != nil {
		return fmt.Errorf("write status of claim %s: %w", s.key, err)
	}
	s.claim.Status = next
	return nil
}

func claimObject(key types.NamespacedName) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "ClusterClaim",
		"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name},
	}}
}

func (r *Reconciler) statusOf(ctx context.Context, s *scope) (v1alpha1.ClusterClaimStatus, error) {
	seen, err := r.observe(ctx, s)
	if err != nil {
		return v1alpha1.ClusterClaimStatus{}, err
	}
	claim := s.claim
	if s.wanted.good() {
		claim = claim.DeepCopy()
		claim.Spec = s.wanted.Claim.Spec
	}
	in := status.Input{
		Claim: claim, Git: s.git, Life: s.life, Stop: s.stop, Applied: s.applied || s.appliedBefore(), RaisedVersion: s.raised,
		Allocation: s.allocation, Inventory: s.inventory, Notices: r.Board.Notices(s.key),
		Cluster: s.cluster, ControlPlane: seen.controlPlane, Machines: seen.machines, VMs: seen.vms, Now: r.Clock.Now(),
	}
	if s.applied || s.wanted.tombstone() { // the claim with the tombstone is applied before anything is deleted
		in.Revision = s.revision
	}
	return status.Compute(in), nil
}

// appliedBefore is true for a claim that has nothing to apply now and whose objects were applied: one that
// vanished, or one whose overlay broke.
func (s *scope) appliedBefore() bool {
	return !s.wanted.good() && s.claim.Status.ObservedRevision != ""
}

// writeStatus applies a status as the status' own field manager.
func writeStatus(ctx context.Context, c client.Client, o *unstructured.Unstructured, next any) error {
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode status: %w", err)
	}
	fields := map[string]any{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return fmt.Errorf("encode status: %w", err)
	}
	o.Object["status"] = fields
	return c.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(o), client.FieldOwner(v1alpha1.StatusFieldManager), client.ForceOwnership)
}
