package corner

import (
	"net/http"
	"testing"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/proxmox/access"
)

// agentWrites are the agent's writes to Proxmox VE so far.
func (w *world) agentWrites() int {
	n := 0
	for _, c := range w.pve.Calls() {
		if c.User == access.AgentToken && c.Method != http.MethodGet {
			n++
		}
	}
	return n
}

// TestNoWriteComesBehindTheLastStep fails for a write that is made outside of the lists of steps: no kill point is behind
// it, and no test dies there. Within a step there may be several, such as the user's rights; each of those is made to fail,
// and to lose its answer, in TestAnyCallMayFail and TestAnAnswerMayBeLost.
func TestNoWriteComesBehindTheLastStep(t *testing.T) {
	for name, l := range lives {
		w := newWorld(t)
		l.prepare(w)
		writes := 0
		w.keeper.Client = machinestest.Counted(w.client, &writes)
		w.pve.ForgetCalls()
		points := &machinestest.Points{Count: func() int { return writes + w.agentWrites() }}
		w.keeper.interrupt = points.Reach
		run := w.ensure
		if name == "removing" {
			run = func() error { return w.keeper.Remove(t.Context(), w.request()) }
		}
		if err := run(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if behind := points.End(); behind > 0 || points.Most == 0 {
			t.Errorf("%s: %d writes come behind the last step; the most between two steps is %d", name, behind, points.Most)
		}
		reached := map[string]bool{}
		for _, step := range points.Reached {
			reached[step] = true
		}
		for _, s := range l.steps {
			if !reached[s.name] {
				t.Errorf("%s: the kill point of %s was not reached", name, s.name)
			}
		}
	}
}
