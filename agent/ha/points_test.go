package ha

import (
	"net/http"
	"testing"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/proxmox/access"
)

// TestNoWriteComesBehindTheLastStep fails for a write that is made outside of the list of steps: no kill point is behind
// it, and no test dies there. Within a step there is one for each machine, resource or rule, and the order of those does
// not matter.
func TestNoWriteComesBehindTheLastStep(t *testing.T) {
	for name, begin := range map[string]func(*world){
		"VMs are put in":     func(*world) {},
		"one is taken out":   func(w *world) { w.settle(); w.delete(1) },
		"it is switched off": func(w *world) { w.settle(); w.fleet.Spec.Proxmox.HA = false },
		"a VM has moved":     func(w *world) { w.settle(); w.move(20004, "pve2") },
		"the cluster goes":   func(w *world) { w.settle(); w.Delete(w.LiveCluster(shop)) },
	} {
		w := newWorld(t, v9)
		begin(w)
		writes := 0
		w.keeper.Client = machinestest.Counted(w.Client, &writes)
		w.pve.ForgetCalls()
		points := &machinestest.Points{Count: func() int { return writes + w.haWrites() }}
		behind := 0
		w.keeper.interrupt = func(step string) error {
			behind = 0
			return points.Reach(step)
		}
		for range 6 {
			w.round()
			behind += points.End()
		}
		if behind > 0 || points.Most == 0 {
			t.Errorf("%s: %d writes come behind the last step; the most between two steps is %d", name, behind, points.Most)
		}
		if len(points.Reached) < len(steps) {
			t.Errorf("%s: only %v were reached", name, points.Reached)
		}
	}
}

// haWrites are the writes to Proxmox VE so far, whoever of ours made them.
func (w *world) haWrites() int {
	n := 0
	for _, c := range w.pve.Calls() {
		if c.Method != http.MethodGet && (c.User == access.HAToken || c.User == access.AgentToken) {
			n++
		}
	}
	return n
}
