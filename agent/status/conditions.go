package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

// ReasonPruned is the reason of InGit=False once a vanished claim's cluster is being deleted for that; it outlives
// the agent, so that a deletion that has begun goes on.
const ReasonPruned = "Pruned"

// Reasons of a claim's conditions that are no error's.
const (
	reasonYes        = "Yes"
	reasonInvalid    = "Invalid"
	reasonVanished   = "Vanished"
	reasonNeverInGit = "NeverInGit"
	reasonPending    = "Pending"
	reasonRaised     = "VersionRaised"
	reasonDeleting   = "Deleting"
	reasonChanging   = "Changing"
)

// stopCondition is the condition that an unfinished step belongs to.
func stopCondition(s Step) string {
	if s == StepAllocation {
		return v1alpha1.ConditionAllocated
	}
	return v1alpha1.ConditionApplied
}

// computeConditions makes the conditions that do not hang on the phase.
func computeConditions(v *view) []metav1.Condition {
	if v.Git.Presence == NeverInGit {
		return v.list(v.inGit())
	}
	list := []metav1.Condition{v.rendered(), v.inGit()}
	if v.Life != Gone {
		list = append(list, v.allocated(), v.applied())
	}
	return v.list(list...)
}

// list gives each condition its time: when its status or its reason became what it is. (The reason counts too,
// so that a sentence can tell since when this one thing is being waited for.)
func (v *view) list(conditions ...metav1.Condition) []metav1.Condition {
	for i := range conditions {
		c := &conditions[i]
		c.ObservedGeneration = v.Claim.Generation
		c.LastTransitionTime = metav1.NewTime(v.Now.Truncate(timeUnit))
		was := meta.FindStatusCondition(v.old.Conditions, c.Type)
		if was != nil && was.Status == c.Status && (was.Reason == c.Reason || c.Status == metav1.ConditionTrue) {
			c.LastTransitionTime = was.LastTransitionTime
		}
	}
	return conditions
}

func condition(kind string, ok bool, reason, message string) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	if ok {
		c.Status, c.Reason = metav1.ConditionTrue, reasonYes
	}
	return c
}

func (v *view) rendered() metav1.Condition {
	return condition(v1alpha1.ConditionRendered, v.Git.Problem == "", reasonInvalid, v.Git.Problem)
}

func (v *view) inGit() metav1.Condition {
	switch v.Git.Presence {
	case Vanished:
		return condition(v1alpha1.ConditionInGit, false, reasonVanished, "No overlay renders this claim any more; the cluster keeps running")
	case Pruned:
		return condition(v1alpha1.ConditionInGit, false, ReasonPruned, "No overlay renders this claim any more, and the Fleet's deletion mode is Prune")
	case NeverInGit:
		return condition(v1alpha1.ConditionInGit, false, reasonNeverInGit, "No overlay ever rendered this claim")
	}
	return condition(v1alpha1.ConditionInGit, true, "", "")
}

func (v *view) allocated() metav1.Condition {
	kind := v1alpha1.ConditionAllocated
	if v.Stop != nil && stopCondition(v.Stop.Step) == kind {
		return condition(kind, false, v.Stop.Reason, v.Stop.Message)
	}
	return condition(kind, v.Allocation != nil, reasonPending, "")
}

func (v *view) applied() metav1.Condition {
	kind := v1alpha1.ConditionApplied
	switch {
	case v.Stop != nil && stopCondition(v.Stop.Step) == kind:
		return condition(kind, false, v.Stop.Reason, v.Stop.Message)
	case v.RaisedVersion != "":
		return condition(kind, false, reasonRaised, "The live Kubernetes version is "+v.RaisedVersion+", above the one in Git; it cannot be lowered")
	}
	return condition(kind, v.Applied, reasonPending, "")
}

// settle adds the conditions that hang on the phase.
func settle(v *view, phase v1alpha1.Phase) {
	if v.Git.Presence == NeverInGit || v.Life == Gone {
		return
	}
	v.conditions = append(v.conditions, v.list(condition(v1alpha1.ConditionAvailable, v.available(), string(phase), ""))...)
	switch {
	case v.Life == Leaving:
		v.conditions = append(v.conditions, v.list(condition(v1alpha1.ConditionUpToDate, false, reasonDeleting, ""))...)
	case v.ranOnce() || phase == v1alpha1.PhaseRunning:
		done := phase == v1alpha1.PhaseRunning && v.roster.settled()
		v.conditions = append(v.conditions, v.list(condition(v1alpha1.ConditionUpToDate, done, reasonChanging, ""))...)
	}
}

// available is true when the cluster's API answers and its control plane is healthy.
func (v *view) available() bool {
	if v.Cluster == nil || v.Life != Kept {
		return false
	}
	is := func(kind string) bool { return meta.IsStatusConditionTrue(v.Cluster.Status.Conditions, kind) }
	return is(clusterv1.ClusterControlPlaneAvailableCondition) && is(clusterv1.ClusterRemoteConnectionProbeCondition)
}
