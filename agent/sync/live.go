package sync

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/apply"
	"kubehenge.dev/api/v1alpha1"
)

// liveClaims are the ClusterClaims of the management cluster, by identity.
type liveClaims map[types.NamespacedName]*v1alpha1.ClusterClaim

// fromGit is true for a claim that an overlay rendered at some time.
func fromGit(c *v1alpha1.ClusterClaim) bool {
	return apply.Owned(c.ManagedFields) || c.Status.ObservedRevision != ""
}

// inForce is true for a claim that stands for something: it came from Git, Git had it at the last commit, and its
// cluster is not deleted.
func inForce(c *v1alpha1.ClusterClaim) bool {
	return fromGit(c) && inGitReason(c) == "" && c.Status.Phase != v1alpha1.PhaseDeleted
}

// inGitReason is why a claim was found not to be in Git; empty when it was.
func inGitReason(c *v1alpha1.ClusterClaim) string {
	cond := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionInGit)
	if cond == nil || cond.Status != metav1.ConditionFalse {
		return ""
	}
	return cond.Reason
}

// inForceCount counts the claims that a commit without any overlay would leave out.
func (l liveClaims) inForceCount() int {
	n := 0
	for _, c := range l {
		if inForce(c) {
			n++
		}
	}
	return n
}
