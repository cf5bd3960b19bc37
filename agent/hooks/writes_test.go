package hooks

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/machines/machinestest"
)

// TestALookWritesAtMostOnce: the registration has no list of steps, and no kill points, because each look makes one write
// at most, whatever it finds. A second one would need both, as in package corner. The hooks themselves write nothing:
// they have no client.
func TestALookWritesAtMostOnce(t *testing.T) {
	old, next := newAuthority(t, noon.AddDate(1, 0, 0)), newAuthority(t, noon.AddDate(1, 0, 0))
	for sentence, change := range map[string]func(*desk){
		"nothing is registered": func(d *desk) { d.remove() },
		"all is well":           func(*desk) {},
		"Cluster API has not found the hooks": func(d *desk) {
			d.forget()
			d.clock.Step(askEvery)
		},
		"the CA is another":               func(d *desk) { d.trust(next.pem()) },
		"capmox lacks a patch":            func(d *desk) { d.r.Lacks = func() ([]string, bool) { return []string{"disk"}, true } },
		"somebody changed where they are": func(d *desk) { d.move() },
		"everything at once": func(d *desk) {
			d.forget()
			d.clock.Step(askEvery)
			d.trust(next.pem())
			d.r.Lacks = func() ([]string, bool) { return []string{"disk"}, true }
			d.move()
		},
	} {
		d := newDesk(t, old)
		d.step()
		d.discover(true)
		writes := 0
		kube, ok := d.r.Client.(client.WithWatch)
		if !ok {
			t.Fatal("the client cannot be counted")
		}
		change(d)
		d.r.Client = machinestest.Counted(kube, &writes)
		d.step()
		if want := map[bool]int{true: 0, false: 1}[sentence == "all is well"]; writes != want {
			t.Errorf("%s: %d writes, want %d", sentence, writes, want)
		}
	}
}

func (d *desk) remove() {
	d.t.Helper()
	if err := d.r.Client.Delete(d.t.Context(), d.live()); err != nil {
		d.t.Fatal(err)
	}
}

// forget is Cluster API that has lost the hooks.
func (d *desk) forget() {
	d.t.Helper()
	e := d.live()
	e.Status.Conditions, e.Status.Handlers = nil, nil
	if err := d.r.Client.Status().Update(d.t.Context(), e); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) move() {
	d.t.Helper()
	e := d.live()
	e.Spec.ClientConfig.URL = "https://elsewhere.example.org"
	if err := d.r.Client.Update(d.t.Context(), e); err != nil {
		d.t.Fatal(err)
	}
}
