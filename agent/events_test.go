package agent

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// seen keeps the actions of events as client-go tells them apart.
type seen struct {
	events.EventRecorder
	actions map[string]string
}

func (s seen) Eventf(_, _ runtime.Object, _, _, action, note string, args ...any) {
	s.actions[action] = args[0].(string)
}

func TestEventsWithOtherNotesAreOtherEvents(t *testing.T) {
	s := seen{actions: map[string]string{}}
	r := recorder{s}
	for _, what := range []string{"the user", "the token", "the user"} {
		r.Eventf(nil, nil, "Warning", "CornerPutBack", "PutBack", "put back: %s", what)
	}
	if len(s.actions) != 2 {
		t.Errorf("%d kinds of events, want 2: %v", len(s.actions), s.actions)
	}
}
