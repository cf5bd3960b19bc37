package providers

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/api/v1alpha1"
)

// way is one of the two ways of a distribution's providers.
type way struct {
	steps  []step
	before int32
	run    func(w *world) error
	after  [2]int32
}

var ways = map[string]way{
	"starting": {starting("kubeadm"), 0, func(w *world) error { return w.p.Ensure(w.t.Context(), class()) }, [2]int32{1, 1}},
	"stopping": {stopping("kubeadm"), 1, (*world).restOnce, [2]int32{0, 0}},
}

// restOnce looks until the providers have been unused for long enough, and once more.
func (w *world) restOnce() error {
	for range 2 + int(unusedFor/useInterval) {
		if err := w.p.rest(w.t.Context()); err != nil {
			return err
		}
		w.clock.Step(useInterval)
	}
	return nil
}

// prepared is a distribution that is unused, with a class left, and whose webhooks serve.
func (w way) prepared(t *testing.T) *world {
	t.Helper()
	o := newWorld(t, w.before)
	o.webhooks, o.desired = true, &sync.Desired{}
	left := &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.SystemNamespace, Name: "kubeadm-1", Labels: map[string]string{v1alpha1.ClassLabel: "kubeadm-1"}}}
	if w.before > 0 {
		if err := o.kube.Create(t.Context(), left); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// TestTheAgentMayBeKilledAfterAnyStep takes its kill points from the lists of steps themselves.
func TestTheAgentMayBeKilledAfterAnyStep(t *testing.T) {
	for name, way := range ways {
		for _, s := range way.steps {
			t.Run(name+", killed after "+s.name, func(t *testing.T) {
				w := way.prepared(t)
				w.p.interrupt = func(step string) error {
					if step == s.name {
						return errInterrupt
					}
					return nil
				}
				if err := way.run(w); !errors.Is(err, errInterrupt) {
					t.Fatalf("it was not interrupted: %v", err)
				}
				w.start()
				for range 2 {
					_ = way.run(w) // what starts says that it does
				}
				if got := w.replicas(); got != way.after {
					t.Errorf("replicas %v, want %v", got, way.after)
				}
				if way.before > 0 && len(w.collected) != 1 {
					t.Errorf("the class was removed %d times", len(w.collected))
				}
			})
		}
	}
}

// TestThereIsAKillPointBetweenAnyTwoWrites fails for a write that no step is for.
func TestThereIsAKillPointBetweenAnyTwoWrites(t *testing.T) {
	for name, way := range ways {
		w := way.prepared(t)
		writes := 0
		w.kube = machinestest.Counted(w.kube, &writes)
		w.start()
		points := &machinestest.Points{Count: func() int { return writes }}
		w.p.interrupt = points.Reach
		_ = way.run(w) // what starts says that it does
		points.End()
		if points.Most != 1 {
			t.Errorf("%s: %d writes before %s without a kill point between them", name, points.Most, points.At)
		}
		if n := len(points.Reached); n < len(way.steps) {
			t.Errorf("%s: only the kill points %v of %d steps were reached", name, points.Reached, len(way.steps))
		}
	}
}
