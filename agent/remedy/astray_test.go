package remedy

import (
	"errors"
	"strings"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/status"
)

// hide takes a machine's VM out of every pool, as a person does: no list shows it any more.
func (w *world) hide(vmid int) {
	delete(w.guests, vmid)
	w.hidden[vmid] = true
}

const outOfPool = "VM 20001 (shop-workers-1) is in no pool that Kubehenge may see, and out of its reach: put it back with pveum pool modify kubehenge/team-a.shop --vms 20001 --allow-move 1"

func TestAVMInNoPoolIsToldWithinAMinuteAndItsMachineIsLeftAlone(t *testing.T) {
	for sentence, m := range map[string]machine{
		"a machine that has joined":                {VMID: 20001, Joined: true},
		"one whose node is not ready":              {VMID: 20001, Joined: true, NotReady: true},
		"one that boots":                           {VMID: 20001, Addressed: true, Reason: "WaitingForCloudInit"},
		"one whose start failed":                   {VMID: 20001, Reason: "VMProvisionFailed", Message: "no"},
		"one that is deleted, which cannot happen": {VMID: 20001, Joined: true, Reason: "DeletionFailed", Deleting: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, nil)
			m.Name = "shop-workers-1"
			w.put(m, running)
			w.pass(time.Minute)
			w.events = nil
			before := w.marked(m.Name)
			w.hide(20001)
			w.pass(45 * time.Second) // the list is up to twenty seconds old
			w.wantSentence(outOfPool)
			if n := w.board.Notices(shop); n[0].Kind != status.Terminal {
				t.Errorf("a person is not called: %+v", n)
			}
			w.pass(10 * time.Minute)
			if w.marked(m.Name) != before {
				t.Error("it is marked for replacement")
			}
			if len(w.events) != 1 || w.events[0] != "Astray: "+outOfPool {
				t.Errorf("events %q", w.events)
			}
			w.put(m, running)
			w.pass(Every)
			if strings.Contains(w.sentence(), "pool") {
				t.Errorf("it is back, and the claim says %q", w.sentence())
			}
		})
	}
}

func TestSeveralVMsInNoPoolAreToldInOneSentence(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-cp-1", ControlPlane: true, VMID: 20000, Joined: true}, running)
	w.put(machine{Name: "shop-workers-1", VMID: 20001, Joined: true}, running)
	w.hide(20000)
	w.hide(20001)
	w.pass(time.Minute)
	w.wantSentence("VMs 20000 (shop-cp-1), 20001 (shop-workers-1) are in no pool that Kubehenge may see, and out of its reach: put them back with pveum pool modify kubehenge/team-a.shop --vms 20000,20001 --allow-move 1")
	w.Remove(w.key("shop-cp-1"))
	w.pass(Every)
	w.wantSentence(outOfPool)
}

func TestAVMThatIsGoneIsNoStray(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-workers-1", VMID: 20001, Joined: true}, unlisted)
	w.put(machine{Name: "shop-workers-2", VMID: 20002, Busy: true, Reason: "Cloning"}, unlisted)
	w.hidden[20002] = true // it is being cloned, and in its pool when that has ended
	w.pass(5 * time.Minute)
	w.wantSentence("")
}

func TestAClusterThatIsGoneLeavesNoSentence(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-workers-1", VMID: 20001, Joined: true}, running)
	w.hide(20001)
	w.pass(time.Minute)
	w.Remove(w.key("shop-workers-1"))
	c := w.LiveCluster(shop)
	c.Finalizers = nil
	if err := w.Client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.Delete(c)
	w.pass(Every)
	w.wantSentence("")
}

func TestOnlyVMsThatAreNotListedAreAskedAbout(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-workers-1", VMID: 20001, Joined: true}, running)
	w.put(machine{Name: "shop-workers-2", Reason: "WaitingForBootstrapData"}, unlisted)
	w.pass(time.Hour)
	if w.asked != 0 {
		t.Errorf("Proxmox VE was asked %d times", w.asked)
	}
}

// TestASilentAnswerReplacesNothing: while nobody says whether the VMID is taken, the VM is not taken for gone.
func TestASilentAnswerReplacesNothing(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-workers-1", VMID: 20001, Addressed: true, Reason: "WaitingForCloudInit"}, unlisted)
	w.patrol.Lists, w.silent = deaf{w}, errors.New("no answer")
	for range 20 {
		if err := w.patrol.Round(t.Context()); !errors.Is(err, w.silent) {
			t.Fatalf("error %v", err)
		}
		w.clock.Step(Every)
	}
	if w.marked("shop-workers-1") {
		t.Error("it is marked for replacement")
	}
}
