package remedy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

type machine = machinestest.Machine

const running, stopped, unlisted = "running", "stopped", ""

// stuck are machines that the provider never gets going, with what is said of them.
var stuck = map[string]struct {
	machine  machine
	listed   string
	sentence string
}{
	"no template": {machine{Reason: "VMProvisionFailed", Message: "found 0 VM templates with tags [kubeadm-v1.36.3]"}, unlisted,
		"cannot be built: exactly one VM template with the tags kubeadm-v1.36.3 is needed in the template pool, which is not so"},
	"no storage for ISOs": {machine{VMID: 20000, Reason: "VMProvisionFailed", Message: "cannot inject CloudInit ISO: no storage"}, stopped,
		"cannot be built: no storage takes its boot medium: one with content iso must be open to the provider's token"},
	"a degraded cloud-init": {machine{VMID: 20000, Reason: "VMProvisionFailed", Message: "cloud-init failed execution"}, running,
		"cannot be built: the Proxmox VE provider says: cloud-init failed execution"},
	"a clone that did not get its lock": {machine{VMID: 20000, Reason: "TaskFailed", Message: "qmclone: can't lock file '/var/lock/qemu-server/lock-9000.conf' - got timeout"}, unlisted,
		"had a task fail, after which the provider does nothing more: the Proxmox VE provider says: qmclone: can't lock file '/var/lock/qemu-server/lock-9000.conf' - got timeout"},
	"a start that was refused": {machine{VMID: 20000, Reason: "PoweringOnFailed", Message: "unable to start"}, stopped,
		"cannot be started: the Proxmox VE provider says: unable to start"},
	"a start task that failed": {machine{VMID: 20000, Reason: "WaitingForVMPowerUp", Message: "qmstart: bridge 'vmbr9' does not exist"}, stopped,
		"cannot be started: the Proxmox VE provider says: qmstart: bridge 'vmbr9' does not exist"},
	"a clone after a failed try": {machine{VMID: 20000, Reason: "CloningFailed", Message: "cannot find node with name pve9"}, stopped,
		"was cloned at a second try, and the provider does not go on with it"},
	"taken for ready without an address": {machine{VMID: 20000, Provisioned: true, Reason: "Provisioned"}, stopped,
		"is taken for ready by the provider, but has no address and does not run"},
	"off while its boot is waited for": {machine{VMID: 20000, Addressed: true, Reason: "WaitingForCloudInit"}, stopped,
		"was started and does not run"},
	"a VM that somebody removed": {machine{VMID: 20000, Addressed: true, Reason: "WaitingForCloudInit"}, unlisted,
		"has lost its VM: Proxmox VE does not show VM 20000"},
}

func TestAStuckMachineIsFoundWithinTwoMinutesToldAndReplaced(t *testing.T) {
	for name, c := range stuck {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, nil)
			c.machine.Name = "shop-workers-1"
			w.put(c.machine, c.listed)
			w.pass(2*time.Minute - Every)
			if !w.marked("shop-workers-1") {
				t.Fatal("it is not marked for replacement")
			}
			w.wantSentence("shop-workers-1 " + c.sentence + "; it is being replaced")
			if len(w.events) != 1 || w.events[0] != "Replacing: shop-workers-1 "+c.sentence+"; it is replaced" {
				t.Errorf("events %q", w.events)
			}
		})
	}
}

func TestWhatIsOnItsWayIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		machine machine
		listed  string
	}{
		"waits for its bootstrap data":            {machine{Reason: "WaitingForBootstrapData"}, unlisted},
		"is being cloned":                         {machine{VMID: 20000, Busy: true, Reason: "Cloning"}, stopped},
		"waits in capmox's queue for its start":   {machine{VMID: 20000, Reason: "WaitingForVMPowerUp"}, stopped},
		"waits for its disk":                      {machine{VMID: 20000, Reason: "WaitingForDiskReconciliation"}, stopped},
		"cannot be cloned yet and is tried again": {machine{Reason: "CloningFailed", Message: "595 No route to host"}, unlisted},
		"clones at the second try":                {machine{VMID: 20000, Busy: true, Reason: "CloningFailed"}, stopped},
		"boots":                                   {machine{VMID: 20000, Addressed: true, Reason: "WaitingForCloudInit"}, running},
		"its node does not report":                {machine{VMID: 20000, Addressed: true, Provisioned: true}, "unknown"},
		"has joined and was switched off":         {machine{VMID: 20000, Addressed: true, Provisioned: true, Joined: true, NotReady: true}, stopped},
		"has joined and says what it said":        {machine{VMID: 20000, Joined: true, Reason: "TaskFailed"}, running},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, nil)
			c.machine.Name = "shop-workers-1"
			w.put(c.machine, c.listed)
			w.pass(5 * time.Minute)
			if w.marked("shop-workers-1") {
				t.Error("it is marked for replacement")
			}
			w.wantSentence("")
		})
	}
}

func TestAMachineThatRunsAndNeverJoinsIsReplacedAfterTenMinutes(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-workers-1", VMID: 20000, Addressed: true, Reason: "WaitingForBootstrapReady"}, running)
	w.pass(joinLimit - Every)
	if w.marked("shop-workers-1") {
		t.Fatal("it is marked too soon")
	}
	w.pass(Every)
	w.wantSentence("shop-workers-1 has run for 10 minutes without joining: its console tells more; it is being replaced")
	if !w.marked("shop-workers-1") {
		t.Error("it is not marked")
	}
}

func TestWhatLastsTooShortIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	off := machine{Name: "shop-workers-1", VMID: 20000, Addressed: true, Reason: "WaitingForCloudInit"}
	w.put(off, stopped)
	w.pass(45 * time.Second)
	w.put(off, running)
	w.pass(Every)
	w.put(off, stopped)
	w.pass(45 * time.Second)
	if w.marked("shop-workers-1") {
		t.Error("two short breaks were added up")
	}
}

func TestNothingIsDoneOnAListThatCannotBeTrusted(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-workers-1", VMID: 20000, Addressed: true, Reason: "WaitingForCloudInit"}, unlisted)
	clear(w.guests)
	w.pass(5 * time.Minute)
	if w.marked("shop-workers-1") {
		t.Error("an empty list was taken for the loss of every VM")
	}
	w.silent = errors.New("no answer")
	if err := w.patrol.Round(t.Context()); err == nil {
		t.Error("no error though Proxmox VE is silent")
	}
}

func TestWhatStandsInTheWayIsSaid(t *testing.T) {
	given := machine{Name: "shop-cp-9", ControlPlane: true, Reason: "VMProvisionFailed", Message: "no"}
	ready := func(name string) machine { return machine{Name: name, ControlPlane: true, Joined: true} }
	for name, c := range map[string]struct {
		cluster func(*clusterv1.Cluster)
		sick    func(*machine)
		others  []machine
		why     string
	}{
		"nothing": {nil, nil, []machine{ready("shop-cp-1"), ready("shop-cp-2")}, "it is being replaced"},
		"the cluster is paused": {func(c *clusterv1.Cluster) { c.Spec.Paused = ptr.To(true) }, nil, []machine{ready("shop-cp-1")},
			"it is left alone, since Cluster API is paused for it"},
		"the machine is paused": {nil, func(m *machine) { m.Annotations = map[string]string{clusterv1.PausedAnnotation: ""} }, []machine{ready("shop-cp-1")},
			"it is left alone, since Cluster API is paused for it"},
		"a person forbids it": {nil, func(m *machine) { m.Annotations = map[string]string{clusterv1.MachineSkipRemediationAnnotation: ""} }, []machine{ready("shop-cp-1")},
			"it is left to a person, as its annotation cluster.x-k8s.io/skip-remediation asks"},
		"another goes already": {nil, nil, []machine{ready("shop-cp-1"), {Name: "shop-workers-7", Annotations: map[string]string{clusterv1.RemediateMachineAnnotation: ""}}},
			"its replacement waits until shop-workers-7 is gone"},
		"the quorum hangs by a thread": {nil, nil, []machine{ready("shop-cp-1"), {Name: "shop-cp-2", ControlPlane: true, Joined: true, NotReady: true}},
			"its replacement waits, since only 1 of 2 other control-plane nodes are ready"},
		"it is alone": {nil, nil, nil, "it is not replaced, since the control plane has no other machine"},
		"a worker waits for a silent control plane": {func(c *clusterv1.Cluster) { c.Status.Conditions = nil }, func(m *machine) { m.ControlPlane = false }, []machine{ready("shop-cp-1")},
			"its replacement waits until the control plane answers"},
		"one came before it": {remedied(1), nil, []machine{ready("shop-cp-1"), ready("shop-cp-2")},
			"the machine before it ended the same way, so that the next try waits"},
		"many came before it": {remedied(4), nil, []machine{ready("shop-cp-1"), ready("shop-cp-2")},
			"4 machines before it ended the same way, so that the next try waits up to an hour: mend the cause"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, c.cluster)
			sick := given
			if c.sick != nil {
				c.sick(&sick)
			}
			for _, m := range append(c.others, sick) {
				w.put(m, unlisted)
			}
			w.pass(30 * time.Second)
			w.wantSentence("shop-cp-9 cannot be built: the Proxmox VE provider says: no; " + c.why)
			if free := c.why == "it is being replaced"; w.marked("shop-cp-9") != free {
				t.Errorf("marked is %t", !free)
			}
		})
	}
}

// remedied is a cluster that had so many machines replaced in a row, the last at 12:02:30.
func remedied(times int) func(*clusterv1.Cluster) {
	return func(c *clusterv1.Cluster) {
		c.Annotations = map[string]string{v1alpha1.RemedyAnnotation: fmt.Sprintf(`{"given up": {"times": %d, "last": "2026-11-30T12:02:30Z"}}`, times)}
	}
}

func TestAClusterThatIsBeingDeletedIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	w.put(machine{Name: "shop-workers-1", Reason: "VMProvisionFailed"}, unlisted)
	w.Delete(w.LiveCluster(shop))
	w.pass(time.Minute)
	if w.marked("shop-workers-1") {
		t.Error("a machine is marked")
	}
}

func TestTheFirstControlPlaneMachineIsDeletedWhereItsOwnerDoesNotAct(t *testing.T) {
	w := newWorld(t)
	waiting := func(c *clusterv1.Cluster) {
		c.Status.Initialization.ControlPlaneInitialized, c.Status.Conditions = nil, nil
	}
	w.Cluster(shop, waiting)
	w.put(machine{Name: "shop-cp-1", ControlPlane: true, Reason: "VMProvisionFailed", Message: "no"}, unlisted)
	at := machinestest.Key("team-a", "shop-cp-1")
	w.pass(45 * time.Second)
	if !w.marked("shop-cp-1") || !w.Live(at).DeletionTimestamp.IsZero() {
		t.Fatal("it is to be marked, and to be left to its owner for a minute")
	}
	w.pass(time.Minute)
	if w.Live(at).DeletionTimestamp.IsZero() {
		t.Error("it is not deleted")
	}
}

// TestTheCacheDoesNotDecideAboutTheFirstMachine has a control plane that has answered, which the agent's cache does not know yet.
func TestTheCacheDoesNotDecideAboutTheFirstMachine(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = nil })
	w.put(machine{Name: "shop-cp-1", ControlPlane: true, Reason: "VMProvisionFailed", Message: "no"}, unlisted)
	w.patrol.Direct = interceptor.NewClient(w.Client, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
		err := c.Get(ctx, key, o, opts...)
		if live, is := o.(*clusterv1.Cluster); is {
			live.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
		}
		return err
	}})
	w.pass(5 * time.Minute)
	if m := w.Live(machinestest.Key("team-a", "shop-cp-1")); m == nil || !m.DeletionTimestamp.IsZero() {
		t.Error("it is deleted")
	}
}

func TestAControlPlaneThatHasAnsweredIsNeverDeletedByUs(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	at := machinestest.Key("team-a", "shop-cp-1")
	w.put(machine{Name: "shop-cp-1", ControlPlane: true, Reason: "VMProvisionFailed", Annotations: map[string]string{clusterv1.RemediateMachineAnnotation: ""},
		Owner: "KubeadmControlPlane can't remediate if current replicas are less or equal to 1"}, unlisted)
	w.pass(5 * time.Minute)
	if !w.Live(at).DeletionTimestamp.IsZero() {
		t.Error("it is deleted")
	}
	if !strings.HasSuffix(w.sentence(), "Cluster API says: KubeadmControlPlane can't remediate if current replicas are less or equal to 1") {
		t.Errorf("the claim does not say what Cluster API says: %q", w.sentence())
	}
}

func TestACauseThatPersistsReplacesEverMoreRarely(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	replaced, at := 0, w.clock.Now()
	name := func() string { return fmt.Sprintf("shop-workers-%d", replaced) }
	sick := func() machine { return machine{Name: name(), Reason: "VMProvisionFailed", Message: "no"} }
	w.put(sick(), unlisted)
	var gaps []time.Duration
	for w.clock.Since(at) < 4*time.Hour {
		w.pass(Every)
		if w.marked(name()) { // Cluster API deletes it and makes the next, which fares no better
			w.Remove(machinestest.Key(shop.Namespace, name()))
			replaced++
			w.put(sick(), unlisted)
			gaps = append(gaps, w.clock.Since(at).Round(time.Minute))
		}
	}
	if replaced < 5 || replaced > 8 {
		t.Errorf("%d machines in four hours, at %v", replaced, gaps)
	}
	if n := w.board.Notices(shop); len(n) != 1 || n[0].Kind != status.Terminal {
		t.Errorf("a person is not called: %+v", n)
	}
}

func TestTheRecordIsDroppedOnceAllIsWell(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, remedied(3))
	w.put(machine{Name: "shop-workers-1", VMID: 20000, Joined: true}, running)
	w.pass(time.Minute)
	if w.LiveCluster(shop).Annotations[v1alpha1.RemedyAnnotation] == "" {
		t.Fatal("it is dropped before the successor can have failed")
	}
	w.pass(settled)
	if got := w.LiveCluster(shop).Annotations[v1alpha1.RemedyAnnotation]; got != "" {
		t.Errorf("it stays: %s", got)
	}
}

// TestARecordFromTheFutureHoldsNothingUp: a clock that was wrong once must not keep a cluster from being mended for years.
func TestARecordFromTheFutureHoldsNothingUp(t *testing.T) {
	future := func(c *clusterv1.Cluster) {
		c.Annotations = map[string]string{v1alpha1.RemedyAnnotation: `{"given up": {"times": 2, "last": "2036-01-01T00:00:00Z"}}`}
	}
	t.Run("a machine is replaced", func(t *testing.T) {
		w := newWorld(t)
		w.Cluster(shop, future)
		w.put(machine{Name: "shop-workers-1", Reason: "VMProvisionFailed", Message: "no"}, unlisted)
		w.pass(time.Minute)
		if !w.marked("shop-workers-1") {
			t.Errorf("it is not: %s", w.sentence())
		}
	})
	t.Run("and the record is dropped once all is well", func(t *testing.T) {
		w := newWorld(t)
		w.Cluster(shop, future)
		w.put(machine{Name: "shop-workers-1", VMID: 20000, Joined: true}, running)
		w.pass(time.Minute)
		if got := w.LiveCluster(shop).Annotations[v1alpha1.RemedyAnnotation]; got != "" {
			t.Errorf("it stays: %s", got)
		}
	})
}

func TestAPatrolKilledAfterAnyStepGoesOnWhereItWas(t *testing.T) {
	for _, st := range steps {
		t.Run(st.name, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = nil })
			w.put(machine{Name: "shop-cp-1", ControlPlane: true, Reason: "VMProvisionFailed", Message: "no"}, unlisted)
			w.patrol.interrupt = func(step string) error {
				if step == st.name {
					return errInterrupt
				}
				return nil
			}
			if err := w.patrol.Round(t.Context()); !errors.Is(err, errInterrupt) {
				t.Fatalf("it was not interrupted: %v", err)
			}
			w.start()
			w.pass(pauses[1] + ownerPatience + time.Minute)
			m := w.Live(machinestest.Key("team-a", "shop-cp-1"))
			if m.DeletionTimestamp.IsZero() {
				t.Error("the machine is not replaced")
			}
		})
	}
}
