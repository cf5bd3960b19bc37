package remedy

import (
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/machines/machinestest"
)

// TestThereIsAKillPointBetweenAnyTwoWrites fails for a write of a replacement that no step is for.
func TestThereIsAKillPointBetweenAnyTwoWrites(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, func(c *clusterv1.Cluster) { c.Status.Initialization.ControlPlaneInitialized = nil })
	w.put(machine{Name: "shop-cp-1", ControlPlane: true, Reason: "VMProvisionFailed", Message: "no"}, unlisted)
	writes := 0
	w.Client = machinestest.Counted(w.Client, &writes)
	w.start()
	points := &machinestest.Points{Count: func() int { return writes }}
	w.patrol.interrupt = points.Reach
	w.pass(ownerPatience + time.Minute)
	if m := w.Live(w.key("shop-cp-1")); m.DeletionTimestamp.IsZero() {
		t.Fatal("the machine is not replaced")
	}
	points.End()
	if points.Most != 1 || writes != len(steps) {
		t.Errorf("%d writes for %d steps, up to %d before %s without a kill point between them", writes, len(steps), points.Most, points.At)
	}
}

// TestARoundWithoutAReplacementWritesOnce: dropping the record is the one write that is in no list of steps.
func TestARoundWithoutAReplacementWritesOnce(t *testing.T) {
	w := newWorld(t)
	w.Cluster(shop, remedied(3))
	w.put(machine{Name: "shop-workers-1", VMID: 20000, Joined: true}, running)
	writes := 0
	w.Client = machinestest.Counted(w.Client, &writes)
	w.start()
	w.pass(settled + time.Minute)
	if writes != 1 {
		t.Errorf("%d writes, want one", writes)
	}
}
