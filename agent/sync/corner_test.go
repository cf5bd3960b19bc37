package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/agent/corner"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// corners are clusters' corners in memory, which outlive the agent as Proxmox VE does.
type corners struct {
	allocator *ledgerAllocator
	made      map[string]bool
	restored  int
	fail      error
	early     []string // what was asked for before its time
}

func newCorners(l *ledgerAllocator) *corners { return &corners{allocator: l, made: map[string]bool{}} }

func cornerName(r corner.Request) string { return r.Claim.Namespace + "." + r.Claim.Name }

func (c *corners) RestorePool(_ context.Context, r corner.Request) error {
	c.restored++
	if r.Cluster == nil {
		c.early = append(c.early, "pool restored without a cluster")
	}
	return c.fail
}

func (c *corners) Ensure(_ context.Context, r corner.Request) error {
	name := cornerName(r)
	if r.Cluster == nil || r.Claim.Status.Allocation == nil || c.allocator.given[name] == nil {
		c.early = append(c.early, name+" made without its cluster, or without a record of its allocation")
	}
	if c.fail != nil {
		return c.fail
	}
	c.made[name] = true
	return nil
}

func (c *corners) Remove(_ context.Context, r corner.Request) error {
	name := cornerName(r)
	if n := c.allocator.vms[name]; n > 0 {
		return &status.Told{Kind: status.Waiting, Reason: "CornerOccupied", Sentence: fmt.Sprintf("pool kubehenge/%s still holds %d VMs", name, n)}
	}
	if c.fail != nil {
		return c.fail
	}
	if c.allocator.given[name] == nil && c.made[name] {
		c.early = append(c.early, name+" removed after its pool")
	}
	delete(c.made, name)
	return nil
}

func TestACornerIsMadeWithItsClusterAndRemovedBeforeItsPool(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	if !w.corners.made["team-a.shop"] {
		t.Error("there is no corner")
	}
	w.shop("state: Deleted")
	w.push()
	w.settle()
	w.wantPhase(shop, v1alpha1.PhaseDeleted)
	if len(w.corners.made) != 0 || len(w.corners.early) != 0 {
		t.Errorf("left %v; %s", w.corners.made, strings.Join(w.corners.early, ", "))
	}
}

func TestACornerThatCannotBeMadeIsTold(t *testing.T) {
	w := newWorld(t)
	w.corners.fail = &status.Told{Kind: status.Terminal, Reason: "CornerForbidden", Sentence: "the agent's token may not see to the user"}
	w.shop()
	w.push()
	w.settle()
	c := w.wantPhase(shop, v1alpha1.PhaseError)
	if !strings.HasPrefix(c.Status.Message, "The agent's token may not see to the user") || c.Status.Allocation == nil {
		t.Errorf("message %q, allocation %v", c.Status.Message, c.Status.Allocation)
	}
	if w.cluster(shop) == nil {
		t.Error("the cluster is not there to wait for its corner")
	}
}

func TestACornerIsKeptWhileItsOverlayIsBrokenOrGone(t *testing.T) {
	for name, leave := range map[string]func(w *world){
		"broken": func(w *world) { w.shop("nonsense: true") },
		"gone":   func(w *world) { w.remove("clusters/team-a/shop") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.shop()
			w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
			w.push()
			w.settle()
			leave(w)
			w.push()
			w.settle()
			w.corners.made["team-a.shop"], w.corners.restored = false, 0
			w.settle()
			if !w.corners.made["team-a.shop"] || w.corners.restored == 0 {
				t.Errorf("made %v, pools looked at %d times", w.corners.made, w.corners.restored)
			}
		})
	}
}

func TestTheCornerHasItsPlaceAmongThePhases(t *testing.T) {
	at := func(name string) int { return slices.IndexFunc(phases, func(p phase) bool { return p.name == name }) }
	if at("pool") > at("allocation") || at("corner") < at("cluster") || at("corner") < at("extras") || at("corner") > at("release") {
		t.Error("the phases are out of order")
	}
}
