package status

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kubehenge.dev/api/v1alpha1"
)

// view is the input with what the rules ask of it.
type view struct {
	*Input
	roster *roster
	// old is the status as it was last written.
	old *v1alpha1.ClusterClaimStatus
	// conditions are the new ones.
	conditions []metav1.Condition
}

// Compute makes a claim's status.
func Compute(in Input) v1alpha1.ClusterClaimStatus {
	v := &view{Input: &in, old: &in.Claim.Status, roster: newRoster(&in)}
	v.conditions = computeConditions(v)
	phase, message := v.decide()
	settle(v, phase)
	out := v1alpha1.ClusterClaimStatus{
		Phase:            phase,
		Message:          message,
		Since:            v.trueSince(message),
		Conditions:       v.conditions,
		ObservedRevision: in.Revision,
		Version:          v.liveVersion(),
		Nodes:            v.nodes(),
		Allocation:       in.Allocation,
		Inventory:        in.Inventory,
	}
	if out.ObservedRevision == "" {
		out.ObservedRevision = v.old.ObservedRevision
	}
	return out
}

// decide takes the first rule that applies, and puts what Git has to say before its sentence.
func (v *view) decide() (v1alpha1.Phase, string) {
	for _, r := range rules {
		phase, message := r.apply(v)
		if message == "" {
			continue
		}
		phase, message = v.withNotices(phase, message)
		return phase, v.withGit(message)
	}
	return v.old.Phase, v.withGit("Waiting to be applied")
}

// withNotices adds the first of what other parts have to say: what needs a person goes before the sentence, what is
// waited for after it.
func (v *view) withNotices(phase v1alpha1.Phase, message string) (v1alpha1.Phase, string) {
	if len(v.Notices) == 0 || v.Life == Gone || v.Git.Presence == NeverInGit {
		return phase, message
	}
	n := v.Notices[0]
	if strings.HasPrefix(lower(message), lower(n.Sentence)) {
		return phase, message // a hook says the same
	}
	if n.Kind != Terminal {
		return phase, message + "; " + lower(n.Sentence) + since(n.Since, v.Now)
	}
	if phase == v1alpha1.PhaseProvisioning || phase == v1alpha1.PhasePending {
		phase = v1alpha1.PhaseError
	}
	return phase, n.Sentence + "; " + lower(message)
}

// withGit puts before a sentence what is amiss in Git; the cluster keeps running meanwhile.
func (v *view) withGit(message string) string {
	switch {
	case v.Life != Kept || v.Git.Presence == NeverInGit:
		return message
	case v.Git.Presence == Vanished:
		c := meta.FindStatusCondition(v.conditions, v1alpha1.ConditionInGit)
		return fmt.Sprintf("Not in Git%s and kept: restore its folder, or commit state: Deleted there; %s", since(c.LastTransitionTime.Time, v.Now), lower(message))
	case v.Git.Problem != "":
		return v.Git.Problem + "; the last good version stays in force (" + lower(message) + ")"
	}
	return message
}

// lower starts a sentence with a small letter, to continue another.
func lower(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return string(s[0]+'a'-'A') + s[1:]
}

// liveVersion is the Kubernetes version that the control plane runs.
func (v *view) liveVersion() string {
	if v.ControlPlane == nil {
		return ""
	}
	return v.ControlPlane.Status.Version
}

func (v *view) nodes() v1alpha1.NodeCount {
	n := v1alpha1.NodeCount{Ready: int32(v.roster.ready())}
	if v.Life == Kept {
		n.Wanted = int32(v.roster.wanted())
	}
	n.Summary = fmt.Sprintf("%d/%d", n.Ready, n.Wanted)
	return n
}

// ranOnce is true once the cluster had all its nodes. Its memory is the UpToDate condition, which exists from
// that moment on.
func (v *view) ranOnce() bool {
	return meta.FindStatusCondition(v.old.Conditions, v1alpha1.ConditionUpToDate) != nil
}
