package corner

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
)

// instant is the real clock with timers that have all run out: pauses cost no time.
type instant struct{ clock.RealClock }

func (instant) NewTimer(time.Duration) clock.Timer { return clock.RealClock{}.NewTimer(0) }

// killAfter has the agent die after the named step, and starts another.
func (w *world) killAfter(step string, run func() error) {
	w.t.Helper()
	w.keeper.interrupt = func(name string) error {
		if name == step {
			return errCrash
		}
		return nil
	}
	if err := run(); !errors.Is(err, errCrash) {
		w.t.Fatalf("the agent did not die after %s: %v", step, err)
	}
	w.start()
}

// until repeats a run until it succeeds; the errors on the way are returned.
func (w *world) until(run func() error) (errs []error) {
	w.t.Helper()
	for range 5 {
		err := run()
		if err == nil {
			return errs
		}
		errs = append(errs, err)
	}
	w.t.Fatalf("it does not come to an end: %v", errs)
	return nil
}

// eventLog keeps what people were told.
type eventLog struct{ notes []string }

func (l *eventLog) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	l.notes = append(l.notes, reason+": "+fmt.Sprintf(note, args...))
}

func (l *eventLog) all() string { return strings.Join(l.notes, "\n") }
