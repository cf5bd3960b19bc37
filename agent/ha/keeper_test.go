package ha

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

// whole is what the HA manager has of shop when all is as it is to be.
var whole = []string{"vm:20001 started", "vm:20002 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20002,vm:20003"}

const v9, v8 = "9.2", "8.4"

func TestJoinedControlPlaneVMsAreInHAAndApart(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.wantState(whole...)
	w.wantHooks("in-ha", "in-ha", "in-ha", "")
	w.wantSentence("")
}

func TestAClusterOfSomeNodesIsKeptOnThem(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = []string{"pve1", "pve2", "pve9"} })
	w.settle()
	w.wantState("vm:20001 started", "vm:20002 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20002",
		"kubehenge-nodes-team-a_shop vm:20001,vm:20002,vm:20003 on pve1,pve2")
	w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = []string{"pve1", "pve2", "pve3"} })
	w.settle()
	w.wantState(whole...)
}

func TestLocalDisksStayOutOfHA(t *testing.T) {
	w := newWorld(t, v9)
	w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Storage = "local" })
	w.settle()
	w.wantState()
	w.wantHooks("", "", "", "")
}

func TestAMachineIsHeldUntilItsVMIsOutOfHA(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.delete(2)
	w.round()
	w.wantState("vm:20001 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20003")
	w.wantHooks("in-ha", "in-ha", "in-ha", "")
	w.settle()
	w.wantHooks("in-ha", "", "in-ha", "")
	w.wantSentence("")
}

func TestAMachineWhoseVMMovedIsHeldUntilTheProviderHasSeenIt(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.delete(2)
	w.pveOff("pve2") // HA moves the VM at once; its hook is there already
	w.settle()
	to := w.pve.Snapshot().VM(20002).Node
	if to == "pve2" {
		t.Fatal("the simulator did not move the VM")
	}
	if w.hook(2) == "" {
		t.Fatal("the machine was let go with a wrong node on record")
	}
	w.wantSentence("cp-2 is held until the provider has seen that its VM is on node " + to + " now")
	w.provider()
	w.settle()
	w.wantHooks("in-ha", "", "in-ha", "")
	if mark := w.mark(2); mark != "" {
		t.Errorf("the mark %q stays", mark)
	}
}

func TestTheVMOfANodeThatFailsIsStartedBesideAnotherAndMovedApartLater(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.pveOff("pve3")
	w.settle()
	w.provider()
	w.settle()
	w.wantState("vm:20001 started", "vm:20002 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20002")
	if vm := w.pve.Snapshot().VM(20003); vm.Node == "pve3" || vm.Status != "running" {
		t.Errorf("VM 20003 is %s on %s", vm.Status, vm.Node)
	}
	if err := w.pve.SetNodeOnline("pve3", true); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.wantState(whole...)
}

// pveOff switches a node off while the machine that is being deleted is still in HA.
func (w *world) pveOff(node string) {
	w.t.Helper()
	if err := w.pve.SetNodeOnline(node, false); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mark(i int) string {
	return w.LiveVM(machinestest.Key("team-a", machineName(i))).GetAnnotations()[v1alpha1.ProxmoxNodeAnnotation]
}

func TestMovedVMsAreRecordedWorkersTooAndWithoutHA(t *testing.T) {
	for name, on := range map[string]bool{"with HA": true, "without HA": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, v9)
			w.fleet.Spec.Proxmox.HA = on
			w.settle()
			for range 2 { // there, and back: the mark must change each time
				for _, to := range []string{"pve3", "pve1"} {
					w.move(20004, to)
					w.settle()
					if w.mark(4) != to || w.hook(4) != moved {
						t.Fatalf("mark %q and hook %q after the move to %s", w.mark(4), w.hook(4), to)
					}
					w.provider()
					w.settle()
					if w.mark(4) != "" || w.hook(4) != "" {
						t.Fatalf("mark %q and hook %q after the provider has seen it", w.mark(4), w.hook(4))
					}
				}
			}
			if len(w.events) != 4 || w.events[0] != "Moved: VM 20004 (w-1) has moved from pve1 to pve3 in Proxmox VE" {
				t.Errorf("events %q", w.events)
			}
		})
	}
}

func TestWhatAPersonTakesAwayIsPutBack(t *testing.T) {
	for name, take := range map[string]func(*world) error{
		"the rule":             func(w *world) error { return w.ha.RemoveRule(w.t.Context(), "kubehenge-apart-team-a_shop") },
		"a resource":           func(w *world) error { return w.ha.RemoveResource(w.t.Context(), "vm:20003") },
		"a VM from the rule":   func(w *world) error { return w.setApart("vm:20001", "vm:20002") },
		"the rule is disabled": func(w *world) error { return w.ha.SetRule(w.t.Context(), disabledRule()) },
		"everything, in a rage": func(w *world) error {
			return errors.Join(w.ha.RemoveRule(w.t.Context(), "kubehenge-apart-team-a_shop"), w.ha.RemoveResource(w.t.Context(), "vm:20001"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, v9)
			w.settle()
			if err := take(w); err != nil {
				t.Fatal(err)
			}
			if w.state() == join(whole) && name != "the rule is disabled" {
				t.Fatal("nothing was taken away")
			}
			w.settle()
			w.wantState(whole...)
			rules, err := w.ha.Rules(t.Context())
			if err != nil || len(rules) != 1 || rules[0].Disabled {
				t.Errorf("rules %+v, %v", rules, err)
			}
		})
	}
}

func (w *world) setApart(resources ...string) error {
	return w.ha.SetRule(w.t.Context(), proxmox.HARule{ID: "kubehenge-apart-team-a_shop", Type: proxmox.ResourceAffinity, Affinity: proxmox.Apart, Resources: resources})
}

func disabledRule() proxmox.HARule {
	return proxmox.HARule{ID: "kubehenge-apart-team-a_shop", Type: proxmox.ResourceAffinity, Affinity: proxmox.Apart,
		Resources: []string{"vm:20001", "vm:20002", "vm:20003"}, Disabled: true}
}

func TestSwitchedOffAllOfOursGoesAndNothingElse(t *testing.T) {
	w := newWorld(t, v9)
	if err := w.ha.AddResource(t.Context(), proxmox.HAResource{ID: "vm:20004", Comment: "by hand"}); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.wantHooks("in-ha", "in-ha", "in-ha", "in-ha")
	w.fleet.Spec.Proxmox.HA = false
	w.settle()
	w.wantState("vm:20004 started")
	w.wantHooks("", "", "", "")
	calls := 0
	w.keeper.HA = counting{w.ha, &calls}
	w.settle()
	if calls != 0 {
		t.Errorf("the HA manager is asked %d times though HA is off", calls)
	}
}

// counting counts the lists of resources that are read.
type counting struct {
	proxmox.HA
	calls *int
}

// Resources counts and reads.
func (c counting) Resources(ctx context.Context) ([]proxmox.HAResource, error) {
	*c.calls++
	return c.HA.Resources(ctx)
}

func join(lines []string) string {
	return strings.Join(slices.Sorted(slices.Values(lines)), "\n")
}

func TestAClusterThatIsDeletedLeavesHAFirst(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.Delete(w.LiveCluster(shop))
	w.settle()
	w.wantState()
	w.wantHooks("", "", "", "")
}

func TestWithoutATokenTheClaimSaysSo(t *testing.T) {
	w := newWorld(t, v9)
	w.keeper.HA = nil
	w.settle()
	w.wantSentence("The Fleet switches HA on, for which the agent has no token: start it with --proxmox-ha-token-id and --proxmox-ha-token-file")
	w.fleet.Spec.Proxmox.HA = false
	w.settle()
	w.wantSentence("")
}

func TestATokenThatIsTakenAwayHoldsMachinesAndSaysWhy(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	w.keeper.HA = nil
	w.delete(2)
	w.settle()
	w.wantHooks("in-ha", "in-ha", "in-ha", "")
	w.wantSentence("cp-2 is held until its VM is out of Proxmox VE's HA, for which the agent has no token: start it with --proxmox-ha-token-id and --proxmox-ha-token-file")
}

func TestAnHAManagerThatIsSilentIsToldAndChangesNothing(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	forget := w.pve.AddFault(simulator.Fault{Path: "^/cluster/ha/", Status: 500, Reason: "cfs-lock 'domain-ha' error: no quorum!"})
	w.delete(2)
	for range 15 {
		if _, err := w.keeper.Round(t.Context()); err == nil {
			t.Fatal("no error")
		}
		w.clock.Step(5e9)
	}
	w.wantHooks("in-ha", "in-ha", "in-ha", "")
	w.wantSentence("Proxmox VE's HA manager cannot be asked: cfs-lock 'domain-ha' error: no quorum!")
	forget()
	w.settle()
	w.wantHooks("in-ha", "", "in-ha", "")
	w.wantSentence("")
}

func TestAVMThatHAKeepsOffIsTold(t *testing.T) {
	w := newWorld(t, v9)
	w.settle()
	task, err := w.agent.Changes().Stop(t.Context(), 20001) // runs as hastop
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.agent.Tasks().Wait(t.Context(), task, nil); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.wantSentence("VM 20001 (cp-1) stays off, since Proxmox VE's HA has it as stopped: start it there")
}

func TestIn84GroupsKeepAClusterOnItsNodes(t *testing.T) {
	w := newWorld(t, v8)
	w.settle()
	w.wantState("vm:20001 started", "vm:20002 started", "vm:20003 started")
	w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = []string{"pve1", "pve2"} })
	w.settle()
	const group = "kubehenge-nodes-team-a_shop"
	w.wantState("vm:20001 started "+group, "vm:20002 started "+group, "vm:20003 started "+group, group+" on pve1,pve2")
	w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = []string{"pve2", "pve3"} })
	w.settle()
	w.wantState("vm:20001 started "+group, "vm:20002 started "+group, "vm:20003 started "+group, group+" on pve2,pve3")
	w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = nil })
	w.settle()
	w.wantState("vm:20001 started", "vm:20002 started", "vm:20003 started")
	w.Delete(w.LiveCluster(shop))
	w.settle()
	w.wantState()
	w.provider() // the group had VMs moved
	w.settle()
	w.wantHooks("", "", "", "")
}

// TestAnUpdateFrom84LeavesNoGroupBehind has Proxmox VE make a rule of the cluster's group, as it does once all nodes run 9.x.
// It takes no VM into two rules about nodes, so that the cluster's own rule would be refused beside it.
func TestAnUpdateFrom84LeavesNoGroupBehind(t *testing.T) {
	const inherited = "ha-group-kubehenge-nodes-team-a_shop"
	some := []string{"vm:20001 started", "vm:20002 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20002",
		"kubehenge-nodes-team-a_shop vm:20001,vm:20002,vm:20003 on pve1,pve2"}
	for name, c := range map[string]struct {
		then func(*world)
		want []string
	}{
		"the cluster stays on its nodes": {func(*world) {}, some},
		"the cluster may use all nodes":  {func(w *world) { w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = nil }) }, whole},
		"the cluster is deleted":         {func(w *world) { w.Delete(w.LiveCluster(shop)) }, nil},
		"HA is switched off":             {func(w *world) { w.fleet.Spec.Proxmox.HA = false }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, v9)
			w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = []string{"pve1", "pve2"} })
			w.settle()
			w.wantState(some...)
			theirs := proxmox.HARule{ID: inherited, Type: proxmox.NodeAffinity, Resources: []string{"vm:20001", "vm:20002", "vm:20003"}, Nodes: []string{"pve1", "pve2"}, Strict: true}
			if err := errors.Join(w.ha.RemoveRule(t.Context(), "kubehenge-nodes-team-a_shop"), w.ha.AddRule(t.Context(), theirs)); err != nil {
				t.Fatal(err)
			}
			w.start()
			c.then(w)
			w.settle()
			w.wantState(c.want...)
			w.wantSentence("")
		})
	}
}

func TestAKeeperKilledAfterAnyStepGoesOnWhereItWas(t *testing.T) {
	for name, change := range map[string]struct {
		begin func(*world)
		end   []string
		hooks []string
	}{
		"while it puts VMs in": {func(*world) {}, whole, []string{"in-ha", "in-ha", "in-ha", ""}},
		"while it takes one out": {func(w *world) { w.settle(); w.delete(1) },
			[]string{"vm:20002 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20002,vm:20003"}, []string{"", "in-ha", "in-ha", ""}},
		"while it narrows to two nodes": {func(w *world) {
			w.settle()
			w.claim(func(c *v1alpha1.ClusterClaim) { c.Spec.Nodes = []string{"pve1", "pve2"} })
		}, []string{"vm:20001 started", "vm:20002 started", "vm:20003 started", "kubehenge-apart-team-a_shop vm:20001,vm:20002",
			"kubehenge-nodes-team-a_shop vm:20001,vm:20002,vm:20003 on pve1,pve2"}, []string{"in-ha", "in-ha", "in-ha", ""}},
		"while it is switched off":         {func(w *world) { w.settle(); w.fleet.Spec.Proxmox.HA = false }, nil, []string{"", "", "", ""}},
		"while the cluster is deleted":     {func(w *world) { w.settle(); w.Delete(w.LiveCluster(shop)) }, nil, []string{"", "", "", ""}},
		"while a moved worker is recorded": {func(w *world) { w.settle(); w.move(20004, "pve2") }, whole, []string{"in-ha", "in-ha", "in-ha", ""}},
	} {
		for _, st := range steps {
			t.Run(name+", after "+st.name, func(t *testing.T) {
				w := newWorld(t, v9)
				change.begin(w)
				w.keeper.interrupt = func(step string) error {
					if step == st.name {
						return errInterrupt
					}
					return nil
				}
				if _, err := w.keeper.Round(t.Context()); !errors.Is(err, errInterrupt) {
					t.Fatalf("it was not interrupted: %v", err)
				}
				w.wantOrder()
				w.start()
				w.round()
				w.wantOrder()
				w.settle()
				w.provider()
				w.settle()
				w.wantState(change.end...)
				w.wantHooks(change.hooks...)
			})
		}
	}
}
