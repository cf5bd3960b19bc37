package ha

import (
	"context"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// twoNodes has the cluster use two of the three nodes.
func (w *world) twoNodes() {
	w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = []string{"pve1", "pve2"} })
	w.settle()
}

func TestWhatAPersonChangesOfRulesAndGroupsIsPutBack(t *testing.T) {
	const nodes, apart = "kubehenge-nodes-team-a_shop", "kubehenge-apart-team-a_shop"
	for name, c := range map[string]struct {
		version string
		meddle  func(context.Context, proxmox.HA) error
	}{
		"VMs may leave their nodes": {v9, func(ctx context.Context, h proxmox.HA) error {
			return h.SetRule(ctx, proxmox.HARule{ID: nodes, Type: proxmox.NodeAffinity, Resources: []string{"vm:20001", "vm:20002", "vm:20003"}, Nodes: []string{"pve1", "pve2"}})
		}},
		"VMs are to be together": {v9, func(ctx context.Context, h proxmox.HA) error {
			return h.SetRule(ctx, proxmox.HARule{ID: apart, Type: proxmox.ResourceAffinity, Affinity: "positive", Resources: []string{"vm:20001", "vm:20002"}})
		}},
		"VMs may leave their group's nodes": {v8, func(ctx context.Context, h proxmox.HA) error {
			return h.SetGroup(ctx, proxmox.HAGroup{ID: nodes, Nodes: []string{"pve1", "pve2"}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.version)
			w.twoNodes()
			before := w.strictness()
			if err := c.meddle(t.Context(), w.ha); err != nil {
				t.Fatal(err)
			}
			if w.strictness() == before {
				t.Fatal("nothing was changed")
			}
			w.settle()
			if after := w.strictness(); after != before {
				t.Errorf("it was %s and is %s", before, after)
			}
		})
	}
}

// strictness is what rules and groups demand.
func (w *world) strictness() string {
	w.t.Helper()
	var lines []string
	inv := w.pve.Save().HA
	for _, r := range inv.Rules {
		lines = append(lines, r.ID+" "+r.Affinity+map[bool]string{true: " strict"}[r.Strict])
	}
	for id, g := range inv.Groups {
		lines = append(lines, id+" restricted="+g["restricted"])
	}
	slices.Sort(lines)
	return strings.Join(lines, "; ")
}

func TestTheRuleGoesWithTheLastButOneVM(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.delete(2)
	w.delete(3)
	w.settle()
	w.wantState("vm:20001 started")
}

func TestARuleOfWhichOneVMIsLeftIsMadeAnewWithAnother(t *testing.T) {
	w := newWorld(t, v9)
	w.twoNodes()
	w.delete(2)
	w.round()
	w.wantState("vm:20001 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20003",
		"kubehenge-nodes-team-a_shop vm:20001,vm:20003 on pve1,pve2")
}

func TestHASwitchedOnAgainIsKept(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.fleet.Spec.Proxmox.HA = false
	w.settle()
	w.wantState()
	w.fleet.Spec.Proxmox.HA = true
	w.settle()
	w.wantState(whole...)
}

// silent makes failing rounds for half a minute.
func (w *world) silent() (forget func()) {
	w.t.Helper()
	forget = w.pve.AddFault(simulator.Fault{Path: "^/cluster/ha/", Status: 500, Reason: "cfs-lock 'domain-ha' error: no quorum!"})
	for range 6 {
		if _, err := w.keeper.Round(w.t.Context()); err == nil {
			w.t.Fatal("no error")
		}
		w.clock.Step(5e9)
	}
	return forget
}

func TestWhatIsOursGoesAfterASilentManagerToo(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.fleet.Spec.Proxmox.HA = false
	w.silent()()
	w.settle()
	w.wantState()
	w.wantHooks("", "", "", "")
}

func TestATimeOfSilenceIsNoTimeOutOfHA(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.delete(2)
	forget := w.silent()
	forget()
	if err := w.ha.RemoveResource(t.Context(), "vm:20002"); err != nil {
		t.Fatal(err)
	}
	w.round()
	if w.hook(2) == "" {
		t.Error("the machine was let go although the HA manager may still move its VM")
	}
	w.settle()
	if w.hook(2) != "" {
		t.Error("the machine is held for ever")
	}
}

// twice is an HA manager that somebody else told the same a moment before.
type twice struct{ proxmox.HA }

// AddResource finds the resource there.
func (h twice) AddResource(ctx context.Context, r proxmox.HAResource) error {
	if err := h.HA.AddResource(ctx, r); err != nil {
		return err
	}
	return h.HA.AddResource(ctx, r)
}

// RemoveResource finds the resource gone.
func (h twice) RemoveResource(ctx context.Context, id string) error {
	if err := h.HA.RemoveResource(ctx, id); err != nil {
		return err
	}
	return h.HA.RemoveResource(ctx, id)
}

func TestWhatAnotherDidAMomentBeforeIsNoError(t *testing.T) {
	w := newWorld(t, v9)
	w.keeper.HA = twice{w.ha}
	w.settle()
	w.wantState(whole...)
	w.delete(2)
	w.settle()
	w.wantState("vm:20001 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20003")
	w.wantHooks("in-ha", "", "in-ha", "")
}

// old are lists of a while ago.
type old struct {
	Lists
	machines []proxmox.Machine
}

// Machines is where VMs were.
func (l old) Machines(context.Context) ([]proxmox.Machine, error) { return l.machines, nil }

func TestAListOfAWhileAgoLetsNoMachineGo(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	before, err := w.keeper.Lists.Machines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.keeper.Lists = old{w.keeper.Lists, before}
	w.pveOff("pve2") // its VM is started elsewhere
	w.delete(2)
	w.settle()
	if to := w.pve.Snapshot().VM(20002).Node; to == "pve2" || w.hook(2) == "" || w.mark(2) != to {
		t.Errorf("VM 20002 is on %s; the machine's hook is %q and its mark %q", to, w.hook(2), w.mark(2))
	}
}

func TestTheNextRoundComesSoonWhileAMachineIsHeld(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	for _, want := range []bool{false, true} {
		if held, err := w.keeper.Round(t.Context()); held != want || err != nil {
			t.Errorf("held is %v, %v", held, err)
		}
		if !want {
			w.delete(2)
		}
	}
	w.settle()
	if len(w.keeper.outSince) > 0 {
		t.Errorf("after it was let go it is remembered: %v", w.keeper.outSince)
	}
}

func TestWhatIsNotSaidOfAVMThatIsOff(t *testing.T) {
	for name, prepare := range map[string]func(*world){
		"one that a person has HA ignore": func(w *world) {
			if err := w.ha.SetResource(w.t.Context(), proxmox.HAResource{ID: "vm:20001", State: "ignored", Comment: "Kubehenge team-a.shop"}); err != nil {
				w.t.Fatal(err)
			}
		},
		"one whose machine is to go": func(w *world) {
			if err := w.ha.SetResource(w.t.Context(), proxmox.HAResource{ID: "vm:20001", State: "stopped", Comment: "Kubehenge team-a.shop"}); err != nil {
				w.t.Fatal(err)
			}
			w.delete(1)
		},
		"one of a cluster that is to go, without a token": func(w *world) {
			w.keeper.HA = nil
			w.Delete(w.LiveCluster(shop))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, v9)
			if !strings.Contains(name, "token") {
				w.settle()
			}
			prepare(w)
			w.round()
			w.wantSentence("")
		})
	}
}
