package corner

import (
	"strings"
	"testing"
)

func TestACornerIsMadeAndCostsNothingAfterwards(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	if wrong := w.audit(); len(wrong) > 0 {
		t.Fatal(strings.Join(wrong, "\n"))
	}
	if !strings.Contains(w.events.all(), "CornerReady") || strings.Contains(w.events.all(), "CornerPutBack") {
		t.Errorf("told: %s", w.events.all())
	}
	w.mustEnsure()
	w.pve.ForgetCalls()
	for range 20 {
		if err := w.keeper.Ensure(t.Context(), w.request()); err != nil {
			t.Fatal(err)
		}
	}
	if calls := w.pve.Calls(); len(calls) > 0 {
		t.Errorf("%d calls though nothing changed, the first %+v", len(calls), calls[0])
	}
	if n := len(w.events.notes); n != 1 {
		t.Errorf("told: %s", w.events.all())
	}
}
