package live

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

func (w *world) message() string {
	if s := w.model.Stale(); s != nil {
		return s.Message
	}
	return ""
}

func TestLiveObjectsAreSeenAndFollowed(t *testing.T) {
	w := newWorld(t)
	w.create(claim(shop, v1alpha1.PhaseProvisioning), machine("shop", "shop-cp-1"), vm("shop", "shop-cp-1", 2041),
		event(1, "Machine", "shop-cp-1", "its node joined"), event(2, "Pod", "shop-cp-1", "not ours"))
	w.begin()
	w.until("everything was read", func() bool {
		return w.model.Cluster(shop).Claim != nil && len(w.model.Cluster(shop).Events) == 1 && w.model.Stale() == nil
	})
	w.watched(1)
	got := w.model.Cluster(shop)
	want := []*Machine{{Name: "shop-cp-1", Cluster: "shop", ControlPlane: true, Version: "v1.36.3", Joined: true,
		NodeReady: &metav1.Condition{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionTrue},
		VM: &VM{Cluster: "shop", ID: 2041, Node: "pve2", Address: "10.0.40.51", CPU: 2, MemoryBytes: 4 << 30, DiskBytes: 40 << 30, Provisioned: &metav1.Condition{Type: vmProvisioned, Status: "False", Reason: "Cloning",
			LastTransitionTime: metav1.NewTime(time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC))}}}}
	if d := cmp.Diff(want, got.Machines, cmpopts.IgnoreUnexported(Machine{})); d != "" {
		t.Error(d)
	}
	if got.Claim.Status.Inventory != nil {
		t.Error("the inventory is kept, which nobody shows")
	}

	c := claim(shop, v1alpha1.PhaseRunning)
	if err := w.client.Get(t.Context(), shop, c); err != nil {
		t.Fatal(err)
	}
	c.Status.Phase = v1alpha1.PhaseRunning
	if err := w.client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.until("the phase is followed", func() bool { return w.model.Claim(shop).Status.Phase == v1alpha1.PhaseRunning })
	if err := w.client.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.until("the claim is gone", func() bool { return w.model.Claim(shop) == nil })
}

func TestAnotherClustersObjectsAreNotTakenForOnes(t *testing.T) {
	w := newWorld(t)
	w.create(claim(shop, v1alpha1.PhaseRunning), machine("shop", "shop-cp-1"), machine("shop-staging", "shop-staging-cp-1"),
		event(1, "Machine", "shop-staging-cp-1", "somebody else's"), event(2, "Cluster", "shop-staging", "somebody else's"), event(3, "Machine", "shop-cp-1", "ours"))
	w.begin()
	w.until("everything was read", w.read)
	got := w.model.Cluster(shop)
	if len(got.Machines) != 1 || len(got.Events) != 1 || got.Events[0].Message != "ours" {
		t.Errorf("machines %+v, events %+v", got.Machines, got.Events)
	}
	if other := w.model.Cluster(types.NamespacedName{Namespace: "team-b", Name: "shop"}); len(other.Machines) != 0 || other.Claim != nil {
		t.Errorf("of another namespace: %+v", other)
	}
}

func TestWhatHappenedToAMachineThatIsGoneIsStillTold(t *testing.T) {
	w := newWorld(t)
	old := machine("shop", "shop-cp-1")
	w.create(claim(shop, v1alpha1.PhaseRunning), old, event(1, "Machine", "shop-cp-1", "replaced, since it was stuck"))
	w.begin()
	w.until("everything was read", w.read)
	w.watched(1)
	if err := w.client.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	w.until("the machine is gone", func() bool { return len(w.model.Cluster(shop).Machines) == 0 })
	w.create(event(2, "Machine", "shop-cp-1", "its VM is gone"))
	w.until("both events are told", func() bool { return len(w.model.Cluster(shop).Events) == 2 })
	if other := w.model.Cluster(types.NamespacedName{Namespace: "team-a", Name: "other"}); len(other.Events) != 0 {
		t.Errorf("told of another cluster: %v", other.Events)
	}
}

func TestAManagementClusterThatDoesNotAnswerAtStartIsTold(t *testing.T) {
	w := newWorld(t)
	w.create(claim(shop, v1alpha1.PhaseRunning))
	w.set(func(w *world) { w.away = true })
	w.begin()
	w.pass(2 * probeEvery)
	if got := w.message(); got != "The management cluster has not answered yet, for 6 seconds. Phases are not known. Clusters run on. You can still commit; changes start when it is back." {
		t.Error(got)
	}
	w.set(func(w *world) { w.away = false })
	w.pass(probeEvery)
	w.until("it recovered by itself", func() bool { return w.read() && w.model.Stale() == nil && w.model.Claim(shop) != nil })
}

func TestWhatWasKnownStaysWhileTheManagementClusterIsAway(t *testing.T) {
	w := newWorld(t)
	w.create(claim(shop, v1alpha1.PhaseRunning))
	w.begin()
	w.until("everything was read", w.read)
	w.watched(1)
	w.pass(probeEvery)
	w.set(func(w *world) { w.away = true })
	w.pass(9 * time.Second)
	if w.model.Stale() == nil {
		t.Fatal("not told within nine seconds")
	}
	w.pass(25 * time.Minute)
	got := w.model.Stale()
	if got.Message != "The management cluster has not answered since 14:32, for 25 minutes. Phases are from then. Clusters run on. You can still commit; changes start when it is back." {
		t.Error(got.Message)
	}
	if !got.Since.Equal(time.Date(2026, 11, 30, 14, 32, 3, 0, time.UTC)) || w.model.Claim(shop) == nil {
		t.Errorf("since %s, claim %v", got.Since, w.model.Claim(shop))
	}

	gone := claim(shop, v1alpha1.PhaseRunning)
	if err := w.client.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	w.create(claim(types.NamespacedName{Namespace: "team-a", Name: "new"}, v1alpha1.PhasePending))
	w.set(func(w *world) { w.away = false })
	w.pass(probeEvery)
	w.until("it is as the management cluster has it", func() bool { return w.read() && len(w.model.Claims()) == 1 && w.model.Claim(shop) == nil })
}

func TestALostAnswerIsNoAbsence(t *testing.T) {
	w := newWorld(t)
	w.begin()
	w.until("everything was read", w.read)
	w.set(func(w *world) { w.away = true })
	w.pass(probeEvery)
	w.set(func(w *world) { w.away = false })
	w.pass(probeEvery)
	if got := w.message(); got != "" {
		t.Error(got)
	}
}

func TestAKindThatMayNotBeReadIsNamed(t *testing.T) {
	w := newWorld(t)
	w.create(claim(shop, v1alpha1.PhaseRunning))
	w.set(func(w *world) { w.refuses = "*v1beta2.MachineList" })
	w.begin()
	w.until("the claim was read and the refusal told", func() bool { return w.model.Claim(shop) != nil && strings.Contains(w.message(), "read machines.") })
	if !strings.Contains(w.message(), "gives the appliance's account the rights") {
		t.Error(w.message())
	}
}

func TestWithoutAManagementClusterNothingIsOld(t *testing.T) {
	m := New(Options{})
	m.Run(t.Context())
	if m.Stale() != nil || m.Claim(shop) != nil || m.Fleet() != nil || len(m.Cluster(shop).Machines) != 0 {
		t.Error("something is known of nothing")
	}
}

func TestABurstOfEventsKeepsTheNewest(t *testing.T) {
	w := newWorld(t)
	w.create(claim(shop, v1alpha1.PhaseRunning))
	for n := range 500 {
		w.create(event(n, "ClusterClaim", "shop", "once more"))
	}
	w.begin()
	w.until("everything was read", w.read)
	w.watched(1)
	for n := 500; n < 1000; n++ {
		w.create(event(n, "ClusterClaim", "shop", "once more"))
	}
	newest := time.Date(2026, 11, 30, 12, 0, 999, 0, time.UTC)
	w.until("the newest is there", func() bool { e := w.model.Cluster(shop).Events; return len(e) > 0 && e[0].Time.Equal(newest) })
	if n := len(w.model.Cluster(shop).Events); n != mostOfOne || len(w.model.tables.events.at) != mostOfOne {
		t.Errorf("%d events are kept", n)
	}
}

func TestWhatChangesNothingThatIsShownIsNotTold(t *testing.T) {
	w := newWorld(t)
	s := &shelf{w.model, w.model.kinds[0], w.model.state.round}
	f := &feed{kind: w.model.kinds[0]}
	c := claim(shop, v1alpha1.PhaseRunning)
	first, err := f.thin(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Replace([]any{first}, "1"); err != nil {
		t.Fatal(err)
	}
	told := 0
	w.model.opts.Changed = func(What) { told++ }
	c.ResourceVersion, c.ManagedFields = "12345", []metav1.ManagedFieldsEntry{{Manager: "x"}}
	again, err := f.thin(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Update(again); err != nil || told != 0 {
		t.Errorf("told %d times, %v", told, err)
	}
	c.Status.Phase = v1alpha1.PhaseUpdating
	if again, err = f.thin(c); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(again); err != nil || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
}
