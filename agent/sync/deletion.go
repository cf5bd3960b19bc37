package sync

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/status"
)

// deleteCluster deletes the Cluster and nothing else; Cluster API takes the rest down. That the deletion has begun
// is written first, so that a claim set back to Running meanwhile waits for its end.
func (r *Reconciler) deleteCluster(ctx context.Context, s *scope) error {
	if s.life != status.Leaving || s.cluster == nil || !s.cluster.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := r.report(ctx, s); err != nil {
		return err
	}
	uid := s.cluster.UID
	err := r.Client.Delete(ctx, s.cluster, client.Preconditions{UID: &uid})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete cluster %s: %w", s.key, err)
	}
	log.FromContext(ctx).Info("Deleting the cluster", "why", s.whyLeaving())
	r.event(s, corev1.EventTypeNormal, "Deleting", "Delete", "Deleting the cluster: "+s.whyLeaving())
	return nil
}

// whyLeaving says what asks for the deletion.
func (s *scope) whyLeaving() string {
	if s.git.Presence == status.Pruned {
		return "its claim left Git and the Fleet's deletion mode is Prune"
	}
	return "its claim in Git says state: Deleted"
}

// release gives back what was reserved, once the Cluster is gone and Proxmox VE shows no VM of it.
func (r *Reconciler) release(ctx context.Context, s *scope) error {
	if s.life != status.Leaving || s.cluster != nil || s.desired == nil {
		return nil
	}
	// The cache may be behind a Cluster that was applied a moment ago.
	err := r.Direct.Get(ctx, s.key, &clusterv1.Cluster{})
	if err == nil {
		return nil
	}
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("look whether cluster %s is gone: %w", s.key, err)
	}
	if err := r.deleteExtras(ctx, s, s.inventory); err != nil {
		return err
	}
	if err := r.removeCorner(ctx, s); err != nil {
		return err
	}
	if err := r.Allocator.Release(ctx, s.desired.Fleet, s.key.Namespace, s.key.Name); err != nil {
		return fmt.Errorf("release what was reserved for %s: %w", s.key, err)
	}
	r.forgetReservation(s)
	s.life, s.allocation = status.Gone, nil
	s.inventory = nil
	log.FromContext(ctx).Info("Deleted")
	r.event(s, corev1.EventTypeNormal, "Deleted", "Delete", "Proxmox VE shows no VM of the cluster")
	return r.collectClasses(ctx, s)
}

// clear removes the live claim of a deleted cluster once its folder is gone.
func (r *Reconciler) clear(ctx context.Context, s *scope) error {
	if s.life != status.Gone || s.wanted != nil || s.claim == nil || s.desired == nil {
		return nil
	}
	uid := s.claim.UID
	err := r.Client.Delete(ctx, s.claim, client.Preconditions{UID: &uid})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("remove claim %s: %w", s.key, err)
	}
	s.removed = true
	log.FromContext(ctx).Info("Removed the claim of a deleted cluster")
	return nil
}
