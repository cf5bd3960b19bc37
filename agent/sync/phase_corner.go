package sync

import (
	"context"
	"fmt"

	"kubehenge.dev/agent/corner"
	"kubehenge.dev/agent/status"
)

// Corners look after each cluster's own corner of Proxmox VE; *corner.Keeper is one.
type Corners interface {
	// RestorePool puts back the pool of a cluster that exists.
	RestorePool(ctx context.Context, r corner.Request) error
	// Ensure makes the corner of a cluster, or puts back what is missing of it.
	Ensure(ctx context.Context, r corner.Request) error
	// Remove removes all of it but the pool, and fails while Proxmox VE still shows a VM of the cluster.
	Remove(ctx context.Context, r corner.Request) error
}

// cornered is true for a claim whose cluster is to have its corner, whatever became of its overlay.
func (r *Reconciler) cornered(s *scope) bool {
	return r.Corners != nil && s.desired != nil && s.claim != nil && s.life == status.Kept && s.git.Presence != status.NeverInGit &&
		s.cluster != nil && s.cluster.DeletionTimestamp.IsZero()
}

func (s *scope) cornerRequest() corner.Request {
	return corner.Request{Claim: s.claim, Cluster: s.cluster, Fleet: s.desired.Fleet}
}

// restorePool comes before the allocation, which a missing pool would stop.
func (r *Reconciler) restorePool(ctx context.Context, s *scope) error {
	if !r.cornered(s) {
		return nil
	}
	return r.Corners.RestorePool(ctx, s.cornerRequest())
}

// ensureCorner comes after the Cluster, whose first machine waits for it. That the claim was given its allocation is
// written down first: without that nothing of a corner is ever removed.
func (r *Reconciler) ensureCorner(ctx context.Context, s *scope) error {
	if !r.cornered(s) || s.allocation == nil {
		return nil
	}
	if s.claim.Status.Allocation == nil {
		if err := r.report(ctx, s); err != nil {
			return err
		}
	}
	return r.Corners.Ensure(ctx, s.cornerRequest())
}

// removeCorner goes before the pool, which must be empty.
func (r *Reconciler) removeCorner(ctx context.Context, s *scope) error {
	if r.Corners == nil || s.claim == nil {
		return nil
	}
	if err := r.Corners.Remove(ctx, s.cornerRequest()); err != nil {
		return fmt.Errorf("remove the corner of %s: %w", s.key, err)
	}
	return nil
}
