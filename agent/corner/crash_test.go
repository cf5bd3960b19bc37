package corner

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// life is a part of a corner's life, and the list of its steps.
type life struct {
	steps   []step
	prepare func(w *world)
	run     func(w *world) error
	check   func(w *world) []string
}

var lives = map[string]life{
	"making":   {making, func(*world) {}, (*world).ensure, (*world).audit},
	"rotating": {making, (*world).asked, (*world).rotated, (*world).auditRotated},
	"putting back": {making, (*world).damaged, (*world).ensure, func(w *world) []string {
		if !strings.Contains(w.events.all(), "CornerReady") { // the mark on the Cluster tells what was put back
			return w.audit()
		}
		return append(w.audit(), "a corner that was put back was told as a new one")
	}},
	"removing": {removing, func(w *world) { w.mustEnsure(); w.deleteCluster() }, (*world).remove, (*world).left},
}

// asked is a whole corner in a running cluster, and somebody's wish for another token.
func (w *world) asked() {
	w.mustEnsure()
	w.deliver()
	w.ask("2026-11-30T12:00:00Z")
}

func (w *world) ask(value string) {
	w.t.Helper()
	claim := w.request().Claim
	claim.Annotations = map[string]string{v1alpha1.RotateAnnotation: value}
	if err := w.client.Update(w.t.Context(), claim); err != nil {
		w.t.Fatal(err)
	}
}

// rotated runs until the new token is in the cluster and the former one is gone; the cluster is never without.
func (w *world) rotated() error {
	before := w.credentials()
	if err := w.ensure(); err != nil {
		return err
	}
	if before != w.credentials() {
		if err := w.works(before); err != nil {
			return fmt.Errorf("the cluster is without a token until it has the new one: %w", err)
		}
	}
	w.deliver()
	if err := w.ensure(); err != nil {
		return err
	}
	w.clock.Step(w.keeper.Settings.Grace)
	return w.ensure()
}

func (w *world) auditRotated() []string {
	wrong := w.audit()
	if c := w.credentials(); c.TokenID != shopUser+"!cluster-2" {
		wrong = append(wrong, "the token in force is "+c.TokenID)
	}
	return wrong
}

// damaged is a whole corner that somebody took everything of that can be taken.
func (w *world) damaged() {
	w.mustEnsure()
	task, err := w.root.Changes().Delete(w.t.Context(), ownerID)
	if err == nil {
		_, err = w.root.Tasks().Wait(w.t.Context(), task, nil)
	}
	err = errors.Join(err, w.root.Pools().Delete(w.t.Context(), shopPool), w.root.Accounts().DeleteUser(w.t.Context(), shopUser))
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestTheAgentMayBeKilledAfterAnyStep takes its kill points from the lists of steps themselves.
func TestTheAgentMayBeKilledAfterAnyStep(t *testing.T) {
	for name, l := range lives {
		for _, s := range l.steps {
			t.Run(name+", killed after "+s.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				l.prepare(w)
				w.events.notes = nil
				w.killAfter(s.name, func() error { return l.run(w) })
				w.until(func() error { return l.run(w) })
				if wrong := l.check(w); len(wrong) > 0 {
					t.Error(strings.Join(wrong, "\n"))
				}
			})
		}
	}
}

// agentCalls are the agent's calls of one undisturbed run.
func agentCalls(t *testing.T, l life) []simulator.Call {
	t.Helper()
	w := newWorld(t)
	l.prepare(w)
	w.pve.ForgetCalls()
	if err := l.run(w); err != nil {
		t.Fatal(err)
	}
	var calls []simulator.Call
	for _, c := range w.pve.Calls() {
		if c.User == access.AgentToken {
			calls = append(calls, c)
		}
	}
	return calls
}

var faults = map[string]simulator.Fault{
	"500":            {Status: 500, Reason: "cfs-lock 'file-user_cfg' error: got lock request timeout"},
	"595":            {Status: 595, Reason: "No route to host"},
	"no answer":      {Reset: true},
	"a failing task": {TaskExit: "unable to create VM 20099 - command 'x' failed: exit code 1"},
}

// TestAnyCallMayFail has each of the calls of a run fail in each way, once; what is done again afterwards does it all.
func TestAnyCallMayFail(t *testing.T) {
	for name, l := range lives {
		calls := agentCalls(t, l)
		if len(calls) < 5 {
			t.Fatalf("%s takes only %d calls", name, len(calls))
		}
		for kind, f := range faults {
			asked := false
			for i, c := range calls {
				if strings.HasPrefix(c.Path, "/cluster/nextid") {
					if asked {
						continue // one VMID is as good as another
					}
					asked = true
				}
				if f.TaskExit != "" && !strings.Contains(c.Path, "/qemu") || c.Method == "GET" && kind != "500" {
					continue // no task; and one failure to read is as good as another
				}
				t.Run(fmt.Sprintf("%s, %s to call %d, %s %s", name, kind, i, c.Method, c.Path), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
					l.prepare(w)
					w.events.notes = nil
					once := f
					once.Who, once.Skip, once.Times = access.AgentToken, i, 1
					w.pve.AddFault(once)
					errs := w.until(func() error { w.cleanHalfMade(); return l.run(w) })
					if len(errs) == 0 {
						t.Error("nobody noticed")
					}
					if wrong := l.check(w); len(wrong) > 0 {
						t.Error(strings.Join(wrong, "\n"))
					}
				})
			}
		}
	}
}

// cleanHalfMade does what a person does with a VM whose making stopped halfway: Proxmox VE keeps it locked.
func (w *world) cleanHalfMade() {
	w.t.Helper()
	vm := w.pve.Snapshot().VM(ownerID)
	if vm == nil || vm.Lock != "create" {
		return
	}
	err := w.pve.SetLock(ownerID, "")
	if err == nil {
		_, err = w.root.Changes().Delete(w.t.Context(), ownerID)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestAnAnswerMayBeLost has each write carried out and its answer lost, as a connection that breaks does.
func TestAnAnswerMayBeLost(t *testing.T) {
	for name, l := range lives {
		for at := 1; ; at++ {
			w := newWorld(t)
			l.prepare(w)
			w.events.notes = nil
			lost := w.loseAnswer(at)
			errs := w.until(func() error { return l.run(w) })
			if wrong := l.check(w); len(wrong) > 0 {
				t.Errorf("%s, the answer to write %d lost (%v):\n%s", name, at, errs, strings.Join(wrong, "\n"))
			}
			if !*lost {
				break
			}
			if at > 40 {
				t.Fatalf("%s makes %d writes", name, at)
			}
		}
	}
}

// TestNoSecretIsSpoken looks through everything that is said while all goes wrong.
func TestNoSecretIsSpoken(t *testing.T) {
	w := newWorld(t)
	w.asked()
	before := w.credentials().Secret
	w.pve.AddFault(simulator.Fault{Who: access.AgentToken, Skip: 3, Times: 1, Status: 500, Reason: "x"})
	errs := w.until(w.rotated)
	claim, cluster := w.request().Claim, w.request().Cluster
	said := fmt.Sprint(errs, w.events.all(), claim.Annotations, claim.Status, cluster.Annotations, w.secret().Annotations, w.secret().Labels, w.keeper.memory, w.user())
	for _, secret := range []string{before, w.credentials().Secret} {
		if strings.Contains(said, secret) {
			t.Error("a secret is in what was said")
		}
	}
	if before == w.credentials().Secret {
		t.Error("the token was not rotated")
	}
}

func TestTheRunsTakeTheirTime(t *testing.T) {
	if taskPatience > time.Minute || DefaultInterval != 30*time.Second || proxmox.DefaultAge > DefaultInterval {
		t.Error("the intervals do not fit together")
	}
}
