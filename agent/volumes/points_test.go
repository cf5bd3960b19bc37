package volumes

import (
	"net/http"
	"testing"

	"kubehenge.dev/agent/machines/machinestest"
)

// TestNoWriteComesBehindTheLastStep fails for a write that is made outside of the lists of steps: no kill point is behind
// it, and no test dies there.
func TestNoWriteComesBehindTheLastStep(t *testing.T) {
	for name, run := range map[string]func(*world, func(string) error) error{
		"a release": func(w *world, after func(string) error) error {
			w.free(shop, "pvc-s", "pvc-pve1", "pvc-pve3")
			r := w.releaser()
			r.after = after
			r.visit(w.ctx, shop)
			return nil
		},
		"a deletion": func(w *world, after func(string) error) error {
			w.retire(shop)
			d := w.drainer()
			d.after = after
			return d.Drain(w.ctx, shop)
		},
	} {
		w := newWorld(t)
		w.spread(shop)
		points := &machinestest.Points{Count: w.writes}
		if err := run(w, points.Reach); err != nil {
			t.Fatal(err)
		}
		if behind := points.End(); behind > 0 || len(points.Reached) == 0 {
			t.Errorf("%s: %d writes come behind the last step of %v", name, behind, points.Reached)
		}
	}
}

// writes are all writes to Proxmox VE so far.
func (w *world) writes() int {
	n := 0
	for _, c := range w.pve.Calls() {
		if c.Method != http.MethodGet {
			n++
		}
	}
	return n
}
