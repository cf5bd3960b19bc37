package remedy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/machines"
)

// TestNoReplacementCostsTheQuorum: a control-plane machine is stuck beside others, and is replaced only where more than
// half of the etcd members that have joined stay ready without it.
func TestNoReplacementCostsTheQuorum(t *testing.T) {
	for _, c := range []struct {
		sentence    string
		ready, lost int  // the other control-plane machines that have joined
		leaving     int  // of the ready ones
		young       bool // the control plane has never answered
		replaced    bool
		why         string
	}{
		{"the first of all is replaced, as nothing can be lost", 0, 0, 0, true, true, ""},
		{"the only one is not", 0, 0, 0, false, false, "the control plane has no other machine"},
		{"the second joins a ready one", 1, 0, 0, false, true, ""},
		{"the second waits for the first to be ready", 0, 1, 0, false, false, "only 0 of 1 other"},
		{"the third joins two ready ones", 2, 0, 0, false, true, ""},
		{"with one of two lost for good the third waits", 1, 1, 0, false, false, "only 1 of 2 other"},
		{"with one of two being deleted the third waits", 2, 0, 1, false, false, "only 1 of 2 other"},
		{"a fourth, in one's place, joins three ready ones", 3, 0, 0, false, true, ""},
		{"with one of three lost for good its successor is replaced", 2, 1, 0, false, true, ""},
		{"with two of three lost it is not", 1, 2, 0, false, false, "only 1 of 3 other"},
		{"with one lost and one being deleted it is not", 2, 1, 1, false, false, "only 1 of 3 other"},
		{"with one of five lost it is", 4, 1, 0, false, true, ""},
		{"with two of five lost it is", 3, 2, 0, false, true, ""},
		{"with three of five lost it is not", 2, 3, 0, false, false, "only 2 of 5 other"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			w := newWorld(t)
			w.Cluster(shop, func(o *clusterv1.Cluster) { o.Status.Initialization.ControlPlaneInitialized = ptr.To(!c.young) })
			for i := range c.ready + c.lost {
				w.put(machine{Name: fmt.Sprintf("shop-cp-%d", i), ControlPlane: true, VMID: 20000 + i, Joined: true, NotReady: i >= c.ready}, running)
			}
			for i := range c.leaving {
				w.Delete(w.Live(w.key(fmt.Sprintf("shop-cp-%d", i))))
			}
			w.put(machine{Name: "shop-cp-new", ControlPlane: true, Reason: "VMProvisionFailed", Message: "no", Created: w.clock.Now().Add(time.Second)}, unlisted)
			w.pass(30 * time.Second)
			if c.leaving > 0 && w.marked("shop-cp-new") {
				t.Fatal("two machines go at once")
			}
			if got := w.marked("shop-cp-new"); got != c.replaced {
				t.Errorf("it is replaced: %v, want %v; %q", got, c.replaced, w.sentence())
			}
			if c.leaving == 0 && !strings.Contains(w.sentence(), c.why) {
				t.Errorf("the claim says %q, want something with %q", w.sentence(), c.why)
			}
		})
	}
}

// TestAMachineThatHasJoinedIsLeftToClusterAPI: one of three is lost for good. Cluster API's own health check replaces it,
// which sees to etcd first; the patrol marks none, also not those that remain.
func TestAMachineThatHasJoinedIsLeftToClusterAPI(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, nil)
	for i := range 3 {
		w.put(machine{Name: fmt.Sprintf("shop-cp-%d", i), ControlPlane: true, VMID: 20000 + i, Joined: true, NotReady: i == 2}, map[bool]string{false: running, true: "unknown"}[i == 2])
	}
	w.pass(time.Hour)
	for i := range 3 {
		if w.marked(fmt.Sprintf("shop-cp-%d", i)) {
			t.Errorf("shop-cp-%d is marked", i)
		}
	}
	// Cluster API deletes it and makes another, which gets stuck: that one is replaced, with both others ready.
	w.Remove(w.key("shop-cp-2"))
	w.put(machine{Name: "shop-cp-3", ControlPlane: true, Reason: "VMProvisionFailed", Message: "no"}, unlisted)
	w.pass(time.Minute)
	if !w.marked("shop-cp-3") {
		t.Errorf("its successor is not replaced: %s", w.sentence())
	}
}

// TestAMachineThatLeavesCountsForNoQuorum asks the rule alone: before it, another keeps two machines from going at once.
func TestAMachineThatLeavesCountsForNoQuorum(t *testing.T) {
	object := &clusterv1.Cluster{}
	object.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
	member := func(uid string, leaving time.Time) *machines.Machine {
		return &machines.Machine{UID: types.UID(uid), Name: uid, ControlPlane: true, Joined: true, Ready: true, Leaving: leaving}
	}
	sick := &patient{Machine: &machines.Machine{UID: "new", Name: "new", ControlPlane: true}}
	for sentence, c := range map[string]struct {
		leaving time.Time
		want    string
	}{
		"two of two stay":     {time.Time{}, ""},
		"one of two is going": {time.Unix(1, 0), "its replacement waits, since only 1 of 2 other control-plane nodes are ready"},
	} {
		s := &scene{Cluster: &machines.Cluster{Object: object, Machines: []*machines.Machine{member("a", time.Time{}), member("b", c.leaving), sick.Machine}}}
		if got := quorum(s, sick); got != c.want {
			t.Errorf("%s: %q, want %q", sentence, got, c.want)
		}
	}
}
