package sync

import (
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/capmox"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// refusing holds back what needs a patch of capmox, for as long as any is missing.
type refusing struct{ missing []string }

func (r *refusing) Allow(live, want *clusterv1.Cluster) error {
	if len(r.missing) == 0 || len(capmox.Needs(live, want)) == 0 {
		return nil
	}
	return &status.Told{Kind: status.Terminal, Reason: "CapmoxUnpatched", Sentence: capmox.Sentence(r.missing)}
}

func TestAChangeThatTheProviderWouldRefuseIsNotApplied(t *testing.T) {
	w := newWorld(t)
	gate := &refusing{}
	w.reconciler.Changes = gate
	w.shop()
	first := w.push()
	w.settle()
	w.wantPhase(shop, v1alpha1.PhaseRunning)
	gate.missing = []string{capmox.Disk}
	w.replace("clusters/team-a/shop/claim.yaml", "workers: {replicas: 1, size: medium}", "workers: {replicas: 2, size: medium}")
	second := w.push()
	w.settle()
	if c := w.claim(shop); c.Status.ObservedRevision != second || second == first {
		t.Fatalf("another number of workers waits, too: %s", c.Status.Message)
	}
	before := w.cluster(shop).ResourceVersion
	w.replace("clusters/team-a/shop/claim.yaml", "workers: {replicas: 2, size: medium}", "workers: {replicas: 2, cpu: 2, memory: 4Gi, disk: 30Gi}")
	third := w.push()
	w.settle()
	c := w.claim(shop)
	wantContains(t, c.Status.Message, "aits for capmox to be patched so that the CRD lets a machine template's boot volume change: run kubehenge capmox patch")
	wantContains(t, condition(c, v1alpha1.ConditionApplied), "False CapmoxUnpatched")
	if c.Status.Phase == v1alpha1.PhaseError || c.Status.ObservedRevision != second || w.cluster(shop).ResourceVersion != before {
		t.Errorf("%s at %s; the Cluster changed: %v", c.Status.Phase, c.Status.ObservedRevision, w.cluster(shop).ResourceVersion != before)
	}
	gate.missing = nil
	w.settle()
	if c := w.claim(shop); c.Status.ObservedRevision != third {
		t.Errorf("it is not applied once capmox is patched: %s", c.Status.Message)
	}
}

func TestAClusterThatDoesNotExistYetWaitsForNoPatch(t *testing.T) {
	w := newWorld(t)
	w.reconciler.Changes = &refusing{missing: []string{capmox.DryRun, capmox.Disk}}
	w.shop()
	w.push()
	w.settle()
	w.wantPhase(shop, v1alpha1.PhaseRunning)
}
