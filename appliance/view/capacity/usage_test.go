package capacity

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
)

func TestWhatClustersTakeIsSummedUpByNamespace(t *testing.T) {
	const gi = 1 << 30
	spec := &v1alpha1.FleetSpec{Sizes: []v1alpha1.Size{{Name: "small", CPU: 2, Memory: "4Gi", Disk: "40Gi"}}}
	claim := func(namespace string, replicas int32, state v1alpha1.State) *v1alpha1.ClusterClaim {
		c := &v1alpha1.ClusterClaim{Spec: v1alpha1.ClusterClaimSpec{State: state, ControlPlane: v1alpha1.ControlPlane{Replicas: replicas}}}
		c.Namespace, c.Spec.ControlPlane.Size = namespace, "small"
		return c
	}
	claims := []*v1alpha1.ClusterClaim{claim("a", 1, v1alpha1.StateRunning), claim("b", 3, v1alpha1.StateRunning), claim("b", 1, ""), claim("b", 5, v1alpha1.StateDeleted),
		claim("c", 1, v1alpha1.StateDeleted)}
	want := []Usage{{"b", 2, 4, 8, 16 * gi, 160 * gi}, {"a", 1, 1, 2, 4 * gi, 40 * gi}}
	if d := cmp.Diff(want, UsageOf(spec, claims)); d != "" {
		t.Error(d)
	}
	if got := UsageOf(spec, nil); got == nil || len(got) > 0 {
		t.Errorf("nothing is %v", got)
	}
}
