package volumes

import (
	"errors"
	"fmt"
	"testing"
)

var errKilled = errors.New("killed")

// killAt ends the work at the n-th step that is reached, counting from 0.
func killAt(n int) func(string) error {
	return func(string) error {
		n--
		if n == -1 {
			return errKilled
		}
		return nil
	}
}

// The kill points are the steps themselves: how many there are is counted in a run that is not killed.
func TestKilledAfterAnyStepOfARelease(t *testing.T) {
	setUp := func() *world {
		w := newWorld(t)
		w.spread(shop)
		w.free(shop, "pvc-s", "pvc-pve1", "pvc-pve3")
		return w
	}
	steps := 0
	w := setUp()
	r := w.releaser()
	r.after = func(string) error { steps++; return nil }
	r.visit(w.ctx, shop)
	if want := 3 * len(eraseSteps); steps != want {
		t.Fatalf("%d steps, want %d", steps, want)
	}
	for n := range steps {
		t.Run(fmt.Sprintf("%d %s", n, eraseSteps[n%len(eraseSteps)].name), func(t *testing.T) {
			w := setUp()
			killed := w.releaser()
			killed.after = killAt(n)
			if err := killed.release(w.ctx, shop); !errors.Is(err, errKilled) {
				t.Fatalf("not killed: %v", err)
			}
			w.release()
			w.release()
			if left := w.ours(); len(left) != 1 || w.told(shop) != "" {
				t.Errorf("left %s, told %q", left, w.told(shop))
			}
			if config := w.config(shop.OwnerVMID); len(unusedNames(config)) > 0 {
				t.Errorf("unused disks are left: %v", unusedNames(config))
			}
			w.untouched()
		})
	}
}

func TestKilledAfterAnyStepOfADeletion(t *testing.T) {
	setUp := func() *world {
		w := newWorld(t)
		w.spread(shop)
		w.spread(web)
		w.retire(shop)
		return w
	}
	var names []string
	w := setUp()
	d := w.drainer()
	d.after = func(step string) error { names = append(names, step); return nil }
	if err := d.Drain(w.ctx, shop); err != nil {
		t.Fatal(err)
	}
	if want := len(drainSteps) + 4*len(eraseSteps); len(names) != want {
		t.Fatalf("%d steps, want %d", len(names), want)
	}
	for n, name := range names {
		t.Run(fmt.Sprintf("%d %s", n, name), func(t *testing.T) {
			w := setUp()
			killed := w.drainer()
			killed.after = killAt(n)
			if err := killed.Drain(w.ctx, shop); !errors.Is(err, errKilled) {
				t.Fatalf("not killed: %v", err)
			}
			if err := w.drainer().Drain(w.ctx, shop); err != nil {
				t.Fatal(err)
			}
			if left := w.ours(); len(left) != 4 {
				t.Errorf("left: %s", left)
			}
		})
	}
}
