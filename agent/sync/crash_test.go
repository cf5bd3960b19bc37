package sync

import (
	"testing"

	"kubehenge.dev/api/v1alpha1"
)

// scenario is a way through a cluster's life, from a push on.
type scenario struct {
	prepare func(w *world) // what is there before; settled
	push    func(w *world)
	check   func(t *testing.T, w *world)
}

var scenarios = map[string]scenario{
	"creation": {
		prepare: func(*world) {},
		push:    func(w *world) { w.shop(); w.withExtra("extra") },
		check: func(t *testing.T, w *world) {
			w.wantPhase(shop, v1alpha1.PhaseRunning)
			if !w.extra("extra") || len(w.allocator.given) != 1 {
				t.Errorf("extra %v, allocations %v", w.extra("extra"), w.allocator.given)
			}
		},
	},
	"change": {
		prepare: func(w *world) { w.shop(); w.withExtra("old") },
		push:    func(w *world) { w.withExtra("new") },
		check: func(t *testing.T, w *world) {
			w.wantPhase(shop, v1alpha1.PhaseRunning)
			if w.extra("old") || !w.extra("new") {
				t.Errorf("old %v, new %v", w.extra("old"), w.extra("new"))
			}
		},
	},
	"deletion": {
		prepare: func(w *world) { w.shop(); w.withExtra("extra") },
		push:    func(w *world) { w.shop("state: Deleted") },
		check: func(t *testing.T, w *world) {
			c := w.wantPhase(shop, v1alpha1.PhaseDeleted)
			if w.cluster(shop) != nil || len(w.allocator.given) != 0 || w.extra("extra") || w.classObjects() != 0 || c.Status.Allocation != nil {
				t.Error("something of the cluster is left")
			}
		},
	},
	"pruning": {
		prepare: func(w *world) {
			w.files["clusters/fleet.yaml"] = append(w.files["clusters/fleet.yaml"], []byte("\n    maxPerCommit: 1\n")...)
			w.replace("clusters/fleet.yaml", "mode: Keep", "mode: Prune")
			w.shop()
			w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
		},
		push: func(w *world) { w.remove("clusters/team-a/shop") },
		check: func(t *testing.T, w *world) {
			if w.cluster(shop) != nil || len(w.allocator.given) != 1 {
				t.Error("something of the cluster is left")
			}
			w.wantPhase(cart, v1alpha1.PhaseRunning)
		},
	},
}

// A crash after any phase, at the first or a later time that the phase ends, loses nothing: the next agent ends
// what the last one began.
func TestTheAgentMayBeKilledAfterAnyPhase(t *testing.T) {
	for name, s := range scenarios {
		for _, p := range phases {
			for _, round := range rounds[p.name] {
				t.Run(name+" killed after "+p.name+" "+ordinal[round], func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					s.prepare(w)
					w.push()
					w.settle()
					s.push(w)
					w.push()
					w.killAfter(p.name, round)
					w.restart()
					s.check(t, w)
				})
			}
		}
	}
}

// rounds are the times that a phase ends before the kill; later times matter where one phase takes several.
var rounds = map[string][]int{
	"decide": {1}, "class": {1}, "claim": {1, 3}, "pool": {1, 2}, "allocation": {1}, "inventory": {1}, "cluster": {1}, "extras": {1}, "prune": {1}, "corner": {1, 2},
	"delete": {1, 2}, "release": {1, 3}, "clear": {1},
}

func TestEachPhaseHasItsCrash(t *testing.T) {
	for _, p := range phases {
		if len(rounds[p.name]) == 0 {
			t.Errorf("no test kills the agent after the phase %s", p.name)
		}
	}
}

var ordinal = map[int]string{1: "once", 2: "twice", 3: "the third time"}

// killAfter lets the agent work until it has ended the phase so many times, then kills it in the act.
func (w *world) killAfter(phase string, times int) {
	w.t.Helper()
	left := times
	w.reconciler.interrupt = func(name string) error {
		if name == phase {
			if left--; left == 0 {
				return errInterrupt
			}
		}
		return nil
	}
	for range 6 {
		if err := w.once(); isInterrupt(err) {
			return
		} else if err != nil {
			w.t.Fatal(err)
		}
		w.clusterAPI()
	}
}
