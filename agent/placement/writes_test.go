package placement

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/machines/machinestest"
)

// TestADecisionIsOneWrite: placement has no list of steps, and no kill points, because what it decides about a cluster is
// written in one call, and what it notes on the Fleet in another, each of which is whole by itself. A second write for
// either would need both, as in package corner.
func TestADecisionIsOneWrite(t *testing.T) {
	w := newWorld(t)
	writes := 0
	w.kube = machinestest.Counted(w.kube, &writes)
	w.start()
	ready := w.cluster("ready", true, map[string]string{})
	placing := w.cluster("placing", false, map[string]string{"nodes": `["pve3","pve1"]`})
	w.machine(ready, "ready-1")
	keys := []types.NamespacedName{ready, placing}
	clear(w.queue)
	for _, change := range []struct {
		what   string
		do     func()
		writes int // for each of the clusters
	}{
		{"they are new", func() {}, 1},
		{"nothing has changed", func() {}, 0},
		{"a node goes, and another version is asked for", func() {
			w.power("pve3", false)
			w.raise(ready, "v1.36.4")
			w.raise(placing, "v1.99.0")
		}, 1},
		{"both come back", func() {
			w.power("pve3", true)
			w.raise(ready, "v1.36.3")
			w.raise(placing, "v1.36.3")
		}, 1},
	} {
		change.do()
		for range 6 { // a node that goes, or comes, is believed after a while
			w.clock.Step(quietInterval)
			if err := w.place.look(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, key := range keys {
			writes = 0
			if _, err := w.place.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			if writes != change.writes {
				t.Errorf("%s: %d writes for %s, want %d", change.what, writes, key.Name, change.writes)
			}
		}
	}
}

// raise asks for another Kubernetes version.
func (w *world) raise(key types.NamespacedName, version string) {
	w.t.Helper()
	c := &clusterv1.Cluster{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey(key), c); err != nil {
		w.t.Fatal(err)
	}
	c.Spec.Topology.Version = version
	if err := w.kube.Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}
