package pace_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/lab/capmox/pace"
)

func TestWaitsAreCapmoxsAtItsOwnPaceAndScaleWithIt(t *testing.T) {
	waits := func(p pace.Pace) []time.Duration {
		return []time.Duration{p.Requeue(), p.EndpointWait(), p.TaskRetry(), p.ReuseGrace(), p.TaskPoll(), p.ExecPoll()}
	}
	capmox := []time.Duration{10 * time.Second, 200 * time.Millisecond, time.Minute, time.Minute, time.Second, 100 * time.Millisecond}
	for name, c := range map[string]struct {
		pace pace.Pace
		want []time.Duration
	}{
		"not said":          {0, capmox},
		"capmox's own":      {1, capmox},
		"twenty times fast": {0.05, []time.Duration{500 * time.Millisecond, 10 * time.Millisecond, 3 * time.Second, 3 * time.Second, 50 * time.Millisecond, 5 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, waits(c.pace)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBackOffAfterErrorsGrowsAsControllerRuntimesDoes(t *testing.T) {
	limiter := pace.Pace(0.1).Limiter()
	var got []time.Duration
	for range 4 {
		got = append(got, limiter.When(reconcile.Request{}))
	}
	if diff := cmp.Diff([]time.Duration{500 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond}, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}
