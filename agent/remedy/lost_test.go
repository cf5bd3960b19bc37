package remedy

import (
	"strings"
	"testing"
	"time"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
)

// leaving is a machine of the control plane whose deletion has begun and cannot end; its VM is on pve3.
func (w *world) leaving(name string, vmid int, listed string, others ...string) {
	w.t.Helper()
	w.put(machine{Name: name, ControlPlane: true, VMID: vmid, Joined: true, NotReady: true, Node: "pve3", Reason: "DeletionFailed"}, listed)
	w.Delete(w.Live(w.key(name)))
	vm := w.LiveVM(w.key(name))
	vm.SetFinalizers(append(others, providersFinalizer))
	if err := w.Client.Update(w.t.Context(), vm); err != nil {
		w.t.Fatal(err)
	}
	w.Delete(vm)
}

func TestAMachineOnANodeThatIsOfflineSaysWhatItWaitsFor(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.leaving("shop-cp-3", 20003, running) // as its list says for five minutes more
	w.pass(time.Hour)
	w.wantSentence("")
	w.nodes[0].Online = false
	w.pass(goneAfter - Every)
	w.wantSentence("")
	w.pass(Every)
	w.wantSentence("shop-cp-3 cannot be deleted while Proxmox VE node pve1 is offline: bring the node back, or, where it is lost for good, remove it and VM 20003 from Proxmox VE")
	if n := w.board.Notices(shop); n[0].Kind != status.Waiting {
		t.Errorf("it is told as %v", n[0].Kind)
	}
	w.nodes = []proxmox.Node{{Name: "pve2", Online: true}} // removed, and its VMs not yet
	w.guests[20003] = proxmox.Machine{Type: "qemu", VMID: 20003, Node: "pve1", Status: "unknown"}
	w.pass(time.Hour)
	w.wantSentence("shop-cp-3 cannot be deleted while Proxmox VE node pve1 is offline: bring the node back, or, where it is lost for good, remove it and VM 20003 from Proxmox VE")
	if w.LiveVM(w.key("shop-cp-3")) == nil || w.asked > 0 {
		t.Errorf("it was let go though its VM is there; asked %d times", w.asked)
	}
	w.Remove(w.key("shop-cp-3"))
	w.pass(Every)
	w.wantSentence("")
}

func TestMachinesOnANodeThatIsOfflineAreTold(t *testing.T) {
	joined := func(name string, vmid int, ready bool) machine {
		return machine{Name: name, VMID: vmid, Joined: true, NotReady: !ready, Provisioned: true, Addressed: true}
	}
	for sentence, c := range map[string]struct {
		prepare func(*world)
		want    string
	}{
		"one":                    {func(w *world) { w.put(joined("shop-workers-1", 20001, false), running) }, "shop-workers-1 is on Proxmox VE node pve1, which is offline"},
		"one that is being made": {func(w *world) { w.put(machine{Name: "shop-workers-1", VMID: 20001, Reason: "Cloning"}, running) }, "shop-workers-1 is on Proxmox VE node pve1, which is offline"},
		"two": {func(w *world) {
			w.put(joined("shop-workers-1", 20001, false), running)
			w.put(joined("shop-workers-2", 20002, false), running)
		}, "2 machines are on Proxmox VE node pve1, which is offline"},
		"one that is to go comes first": {func(w *world) {
			w.put(joined("shop-a", 20001, false), running)
			w.leaving("shop-cp-3", 20003, running)
		}, "shop-cp-3 cannot be deleted while Proxmox VE node pve1 is offline: bring the node back, or, where it is lost for good, remove it and VM 20003 from Proxmox VE"},
		"one that is ready all the same": {func(w *world) { w.put(joined("shop-workers-1", 20001, true), running) }, ""},
		"one without a VM":               {func(w *world) { w.put(machine{Name: "shop-workers-1"}, unlisted) }, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, nil)
			c.prepare(w)
			w.nodes[0].Online = false
			w.pass(goneAfter - Every)
			w.wantSentence("")
			w.pass(Every)
			w.wantSentence(c.want)
			w.nodes[0].Online = true
			w.round()
			w.wantSentence("")
		})
	}
}

func TestAMachineWhoseVMIsGoneWithItsNodeIsLetGo(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.leaving("shop-cp-3", 20003, "unknown")
	w.pass(10 * time.Minute)
	delete(w.guests, 20003) // an administrator has removed node and VM
	w.pass(goneAfter - Every)
	if w.LiveVM(w.key("shop-cp-3")) == nil {
		t.Fatal("it was let go too soon")
	}
	w.pass(2 * Every)
	if w.LiveVM(w.key("shop-cp-3")) != nil {
		t.Error("it is not let go")
	}
	if got := strings.Join(w.events, "; "); got != "LetGo: VM 20003 of shop-cp-3 is gone from Proxmox VE, which the provider does not see; its machine is let go" {
		t.Errorf("events %q", got)
	}
}

func TestWhichMachinesAreNotLetGo(t *testing.T) {
	for sentence, prepare := range map[string]func(*world){
		"one whose VMID is taken": func(w *world) { w.leaving("shop-cp-3", 20003, unlisted); w.hidden[20003] = true },
		"one whose VM is there":   func(w *world) { w.leaving("shop-cp-3", 20003, running) },
		"one that nobody deletes": func(w *world) { w.put(machine{Name: "shop-cp-3", VMID: 20003, Joined: true}, unlisted) },
		"one that never had a VM": func(w *world) { w.leaving("shop-cp-3", 0, unlisted) },
		"one whose VM's deletion waits yet": func(w *world) {
			w.put(machine{Name: "shop-cp-3", VMID: 20003, Joined: true}, unlisted)
			w.Delete(w.Live(w.key("shop-cp-3")))
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, nil)
			prepare(w)
			w.pass(time.Hour)
			if w.LiveVM(w.key("shop-cp-3")) == nil || strings.Contains(strings.Join(w.events, "; "), "LetGo") {
				t.Errorf("it was let go: %q", w.events)
			}
		})
	}
}

func TestWhatOthersHoldStaysHeld(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.leaving("shop-cp-3", 20003, unlisted, "example.org/theirs")
	w.pass(time.Hour)
	if vm := w.LiveVM(w.key("shop-cp-3")); vm == nil || len(vm.GetFinalizers()) != 1 || len(w.events) != 1 {
		t.Errorf("%v, events %q", vm, w.events)
	}
}

// TestAClusterThatIsDeletedLosesItsNodeToo: the machine is let go there as well, so that the deletion ends.
func TestAClusterThatIsDeletedLosesItsNodeToo(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.leaving("shop-cp-3", 20003, unlisted)
	w.Delete(w.LiveCluster(shop))
	w.pass(goneAfter + Every)
	if w.LiveVM(w.key("shop-cp-3")) != nil {
		t.Error("it is not let go")
	}
}
