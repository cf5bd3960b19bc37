package corner

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestAnAgentThatLostTheLeadDoesNoLastingHarm has an agent held up after each step, as its machine may be; another leads
// meanwhile and does everything. Then the first one goes on to its end, before it notices.
func TestAnAgentThatLostTheLeadDoesNoLastingHarm(t *testing.T) {
	for name, l := range lives {
		for _, s := range l.steps {
			t.Run(name+", held up after "+s.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				l.prepare(w)
				w.events.notes = nil
				held := *w
				led := false
				held.keeper.interrupt = func(step string) error {
					if step == s.name && !led {
						led = true
						w.start()
						w.until(func() error { return l.run(w) })
					}
					return nil
				}
				if err := l.run(&held); !led {
					t.Fatalf("not held up: %v", err)
				}
				w.until(func() error { return l.run(w) })
				if wrong := l.check(w); len(wrong) > 0 {
					t.Error(strings.Join(wrong, "\n"))
				}
			})
		}
	}
}

// TestTheLongestNames have a corner as any others.
func TestTheLongestNames(t *testing.T) {
	w := newWorld(t)
	w.key = types.NamespacedName{Namespace: strings.Repeat("n", 24), Name: strings.Repeat("c", 26)}
	w.claimed()
	w.mustEnsure()
	if err := w.works(w.credentials()); err != nil {
		t.Error(err)
	}
	w.deleteCluster()
	if err := w.remove(); err != nil {
		t.Error(err)
	}
}
