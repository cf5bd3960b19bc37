package cluster

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
)

// Git is what Git has of a cluster.
type Git struct {
	// Overlay is nil for a cluster that Git no longer has.
	Overlay *render.Overlay
	// Fleet is the Fleet that it is in.
	Fleet *v1alpha1.FleetSpec
	// Commits are those that touched it since it was made last, the newest first; only where its steps are told.
	Commits []Commit
}

// Commit is one that touched a cluster.
type Commit struct {
	// Hash is its 40 digits, User who made it, Deed what it did to the cluster.
	Hash, User string
	Deed       history.Deed
	// Applied is true once the agent has put it in force.
	Applied bool
}

// Summarize is the line of one cluster. Claim is nil where there is none, or where nothing is known. Can is left out.
func Summarize(namespace, name string, git Git, claim *live.Claim) Summary {
	s := Summary{Namespace: namespace, Name: name, Can: map[string]permission.Answer{}}
	if o := git.Overlay; o != nil {
		s.Path, s.Problems = o.Path, o.Problems
		if o.Claim != nil {
			s.Spec = &o.Claim.Spec
		}
	}
	s.wanted(claim)
	s.lives(claim)
	return s
}

// wanted is what the cluster is to be: as Git has it, or as it was last applied.
func (s *Summary) wanted(claim *live.Claim) {
	spec := s.Spec
	if spec == nil && claim != nil {
		spec = &claim.Spec
	}
	if spec == nil {
		return
	}
	s.WantedVersion, s.Class, s.Network, s.Endpoint = spec.Version, spec.Class, spec.Network, spec.Endpoint
	if spec.State == v1alpha1.StateDeleted {
		return
	}
	s.Nodes.Wanted = int(spec.ControlPlane.Replicas)
	if spec.Workers != nil {
		s.Nodes.Wanted += int(spec.Workers.Replicas)
	}
	for _, p := range spec.Pools {
		s.Nodes.Wanted += int(p.Replicas)
	}
}

// lives is what the cluster is.
func (s *Summary) lives(claim *live.Claim) {
	if claim == nil {
		s.Phase = Unknown
		s.say(s.notYet())
		return
	}
	status := &claim.Status
	s.Phase, s.Version, s.Nodes.Ready = status.Phase, status.Version, int(status.Nodes.Ready)
	s.say(ofAgent(claim))
	if s.Phase == "" {
		s.Phase = v1alpha1.PhasePending
	}
	if s.Message == "" {
		s.say(notLookedAt.With(nil))
	}
	s.Since = moment(phaseSince(claim))
	if status.Since != nil && status.Message != "" {
		s.MessageSince = moment(status.Since.Time)
	}
}

var (
	notLookedAt  = told.Define("cluster-not-looked-at", "The agent has not looked at it yet")
	onlyInGit    = told.Define("cluster-in-git", "In Git; the agent has not said anything of it yet")
	deletedInGit = told.Define("cluster-deleted-in-git", "Deleted in Git, and no live claim is known; its folder may be removed once the agent says so")
)

func (s *Summary) say(sentence told.Sentence) {
	s.Message, s.Told = sentence.String(), told.Together(told.Fields{"message": sentence})
}

// notYet is said of a cluster without a live claim.
func (s *Summary) notYet() told.Sentence {
	switch {
	case len(s.Problems) > 0:
		return told.Plain(s.Problems[0].String())
	case s.Spec != nil && s.Spec.State == v1alpha1.StateDeleted:
		return deletedInGit.With(nil)
	}
	return onlyInGit.With(nil)
}

// phaseSince is when the claim's phase began, as its conditions tell; zero where they do not.
func phaseSince(claim *live.Claim) time.Time {
	kind, otherwise := "", claim.Created
	switch claim.Status.Phase {
	case v1alpha1.PhaseRunning:
		kind = v1alpha1.ConditionAvailable
	case v1alpha1.PhaseUpdating:
		kind = v1alpha1.ConditionUpToDate
	case v1alpha1.PhaseDeleting, v1alpha1.PhaseDeleted, v1alpha1.PhaseError:
		kind, otherwise = v1alpha1.ConditionAvailable, time.Time{}
	}
	if c := meta.FindStatusCondition(claim.Status.Conditions, kind); c != nil {
		return c.LastTransitionTime.Time
	}
	return otherwise
}

// moment is a time in UTC; nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
