package sync

import (
	"context"
	"errors"
	"fmt"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// phase is one named step of the work on a claim. It returns nil when the next may go on, also where it has
// nothing to do; each may be repeated, and the agent may be killed after any of them.
type phase struct {
	name string
	step status.Step
	run  func(*Reconciler, context.Context, *scope) error
}

// phases is the whole work on a claim, in order.
var phases = []phase{
	{"decide", status.StepApply, (*Reconciler).decide},
	{"claim", status.StepApply, (*Reconciler).applyClaim},
	{"class", status.StepClass, (*Reconciler).applyClass},
	{"pool", status.StepCorner, (*Reconciler).restorePool},
	{"allocation", status.StepAllocation, (*Reconciler).allocate},
	{"inventory", status.StepApply, (*Reconciler).recordInventory},
	{"cluster", status.StepApply, (*Reconciler).applyCluster},
	{"extras", status.StepApply, (*Reconciler).applyExtras},
	{"prune", status.StepPrune, (*Reconciler).prune},
	{"corner", status.StepCorner, (*Reconciler).ensureCorner},
	{"delete", status.StepDelete, (*Reconciler).deleteCluster},
	{"release", status.StepRelease, (*Reconciler).release},
	{"clear", status.StepDelete, (*Reconciler).clear},
}

// errInterrupt stops the work as a crash would.
var errInterrupt = errors.New("interrupted")

func isInterrupt(err error) bool { return errors.Is(err, errInterrupt) }

// decide sets life, git and revision: what is to be done about the cluster as a whole.
func (r *Reconciler) decide(_ context.Context, s *scope) error {
	if s.wanted.good() {
		s.revision = s.revisionOf()
	}
	if s.wanted != nil {
		s.git.Problem = s.wanted.Problem
	} else if s.desired != nil {
		s.git.Presence = presence(s.desired, s.key, s.claim)
	}
	for _, j := range judgements {
		if j.applies(s) {
			s.life = j.life
			break
		}
	}
	s.git.WantsRunning = s.life == status.Leaving && s.wanted.good() && !s.wanted.tombstone()
	return nil
}

// judgement is a named reason for what is done about a cluster as a whole.
type judgement struct {
	name    string
	applies func(*scope) bool
	life    status.Life
}

// judgements are asked in this order; the first that applies decides.
var judgements = []judgement{
	{"what was never in Git is left alone", func(s *scope) bool { return s.git.Presence == status.NeverInGit }, status.Kept},
	{"a deletion that has begun goes on, whatever Git says meanwhile", deletionBegun, status.Leaving},
	{"a deleted cluster stays deleted until Git wants it again", deleted, status.Gone},
	{"the tombstone in Git deletes", func(s *scope) bool { return s.wanted.tombstone() }, status.Leaving},
	{"the tombstone of an overlay that has since broken deletes", brokenTombstone, status.Leaving},
	{"a vanished claim goes where the Fleet prunes", func(s *scope) bool { return s.git.Presence == status.Pruned }, status.Leaving},
	{"a vanished claim that has no cluster has nothing to keep", vanishedEmpty, status.Leaving},
	{"everything else is kept", func(*scope) bool { return true }, status.Kept},
}

func (s *scope) phase() v1alpha1.Phase {
	if s.claim == nil {
		return ""
	}
	return s.claim.Status.Phase
}

func deletionBegun(s *scope) bool {
	return s.phase() == v1alpha1.PhaseDeleting || s.cluster != nil && !s.cluster.DeletionTimestamp.IsZero()
}

func deleted(s *scope) bool {
	wantsAgain := s.wanted.good() && !s.wanted.tombstone()
	return s.phase() == v1alpha1.PhaseDeleted && s.cluster == nil && !wantsAgain
}

func brokenTombstone(s *scope) bool {
	return s.wanted != nil && !s.wanted.good() && s.claim != nil && s.claim.Spec.State == v1alpha1.StateDeleted
}

func vanishedEmpty(s *scope) bool {
	return s.desired != nil && s.wanted == nil && s.cluster == nil && s.git.Presence == status.Vanished
}

// applyClass makes the class's objects live before the first cluster that uses it.
func (r *Reconciler) applyClass(ctx context.Context, s *scope) error {
	if !s.keeps() {
		return nil
	}
	class := s.desired.Classes[s.wanted.Claim.Spec.Class]
	if class == nil {
		return fmt.Errorf("class %s of claim %s is not in the rendering", s.wanted.Claim.Spec.Class, s.key)
	}
	if r.Providers != nil {
		if err := r.Providers.Ensure(ctx, class); err != nil {
			return err
		}
	}
	if err := r.ensureNamespace(ctx, systemNamespace()); err != nil {
		return err
	}
	return r.classes.ensure(ctx, class)
}
