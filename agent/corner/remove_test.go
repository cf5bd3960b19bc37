package corner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

func TestACornerGoesWithoutALeftover(t *testing.T) {
	w := newWorld(t)
	w.asked()
	w.mustEnsure() // a rotation is under way: there are two tokens
	w.deleteCluster()
	if err := w.remove(); err != nil {
		t.Fatal(err)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left: %s", strings.Join(left, ", "))
	}
	if err := w.remove(); err != nil {
		t.Errorf("once more: %v", err)
	}
	w.clustered()
	claim := w.request().Claim
	given, err := w.allocator().Ensure(t.Context(), w.allocationRequest())
	if err != nil {
		t.Fatal(err)
	}
	claim.Status.Allocation = given
	if err := w.client.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	w.mustEnsure()
	if wrong := w.audit(); len(wrong) > 0 {
		t.Errorf("made again: %s", strings.Join(wrong, "\n"))
	}
}

// TestNothingGoesWhileProxmoxVEShowsAVM has the cluster's VM be wherever VMs get to.
func TestNothingGoesWhileProxmoxVEShowsAVM(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(ctx context.Context, w *world) error
		want string
	}{
		"in the pool":              {func(context.Context, *world) error { return nil }, "pool kubehenge/team-a.shop still holds VM 20000 (shop-cp)"},
		"on another node":          {func(ctx context.Context, w *world) error { return w.migrate(20000, "pve3") }, "pool kubehenge/team-a.shop still holds VM 20000 (shop-cp)"},
		"on a node that is away":   {func(ctx context.Context, w *world) error { return w.pve.SetNodeOnline("pve1", false) }, "pool kubehenge/team-a.shop still holds VM 20000 (shop-cp)"},
		"in the pool above":        {func(ctx context.Context, w *world) error { return w.root.Memberships().Move(ctx, "kubehenge", 20000) }, "pool kubehenge/team-a.shop still holds VM 20000 (shop-cp), which somebody moved to pool kubehenge"},
		"without its tag, in pool": {func(ctx context.Context, w *world) error { return w.root.Changes().Configure(ctx, 20000, nil, "tags") }, "pool kubehenge/team-a.shop still holds VM 20000 (shop-cp)"},
		"in the pool above, without its tag": {func(ctx context.Context, w *world) error {
			return errors.Join(w.root.Changes().Configure(ctx, 20000, nil, "tags"), w.root.Memberships().Move(ctx, "kubehenge", 20000))
		}, "pool kubehenge/team-a.shop still holds VM 20000 (shop-cp), which somebody moved to pool kubehenge"},
		"in a pool within the pool": {func(ctx context.Context, w *world) error {
			return errors.Join(w.root.Pools().Create(ctx, shopPool+"/more", ""), w.root.Memberships().Move(ctx, shopPool+"/more", 20000))
		}, "pool kubehenge/team-a.shop still holds VM 20000 (shop-cp), which somebody moved to pool kubehenge/team-a.shop/more"},
		"a stranger in the pool": {func(ctx context.Context, w *world) error {
			if err := w.destroy(20000); err != nil {
				return err
			}
			w.machine(31000, shopPool)
			return nil
		}, "pool kubehenge/team-a.shop still holds VM 31000 (shop-cp)"},
		"a stranger under the owner's number": {func(ctx context.Context, w *world) error {
			if err := errors.Join(w.destroy(20000), w.destroy(ownerID)); err != nil {
				return err
			}
			w.machine(ownerID, shopPool, "theirs")
			return nil
		}, "pool kubehenge/team-a.shop still holds VM 20099 (shop-cp)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustEnsure()
			w.machine(20000, shopPool, "kubehenge", "team-a.shop")
			if err := c.do(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			w.deleteCluster()
			var told *status.Told
			if err := w.remove(); !errors.As(err, &told) || told.Sentence != c.want || told.Kind != status.Waiting {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
			w.pve.ForgetCalls()
			w.remove()
			for _, call := range w.pve.Calls() {
				if call.Method != "GET" {
					t.Errorf("%s %s while a VM is left", call.Method, call.Path)
				}
			}
			if w.user() == nil || w.works(w.credentials()) != nil {
				t.Error("the user or its token is gone")
			}
		})
	}
}

// TestNothingGoesWhileAVMIsInNoPool has a VM that no list shows to the agent, whatever became of its Machine.
func TestNothingGoesWhileAVMIsInNoPool(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	w.machine(20042, shopPool, "kubehenge", "team-a.shop")
	if err := w.outOfPool(20042); err != nil {
		t.Fatal(err)
	}
	w.deleteCluster()
	const want = "VM 20042 has a VMID of the cluster's and is in no pool that Kubehenge may see: delete it if it is the cluster's, or put it back with " +
		"pveum pool modify kubehenge/team-a.shop --vms 20042 --allow-move 1; give it another VMID if it is not"
	var told *status.Told
	if err := w.remove(); !errors.As(err, &told) || told.Sentence != want || told.Kind != status.Terminal {
		t.Fatalf("got %v\nwant %s", err, want)
	}
	w.pve.ForgetCalls()
	for range 3 {
		if err := w.remove(); err == nil {
			t.Fatal("it is gone")
		}
	}
	asked := 0
	for _, call := range w.pve.Calls() {
		if call.Method != "GET" {
			t.Errorf("%s %s while a VM is left", call.Method, call.Path)
		}
		if strings.HasPrefix(call.Path, "/cluster/nextid") {
			asked++
		}
	}
	if asked != 3 {
		t.Errorf("asked about %d VMIDs in three tries, want the one", asked)
	}
	if err := w.destroy(20042); err != nil {
		t.Fatal(err)
	}
	if err := w.remove(); err != nil {
		t.Fatal(err)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left: %s", strings.Join(left, ", "))
	}
}

// TestNoTokenOutlivesARemovalThatStopsHalfway has the agent die before the user is gone.
func TestNoTokenOutlivesARemovalThatStopsHalfway(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	old := w.credentials()
	w.deleteCluster()
	w.killAfter("tokens", w.remove)
	if w.user() == nil || w.works(old) == nil {
		t.Errorf("user %v; the token works: %v", w.user(), w.works(old) == nil)
	}
}

// TestAUserWhoseCommentWasEditedIsLeftAndTold has a person write over whose it is, while the removal waits.
func TestAUserWhoseCommentWasEditedIsLeftAndTold(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	w.deleteCluster()
	u := *w.user()
	u.Comment = "mine now"
	if err := w.root.Accounts().SetUser(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if err := w.remove(); err != nil {
		t.Fatal(err)
	}
	if want := "CornerUserLeft: user kh-team-a.shop@pve is left in Proxmox VE with its tokens, since its comment does not say that it is this management cluster's: delete it there if nobody needs it"; !strings.Contains(w.events.all(), want) || w.user() == nil {
		t.Errorf("told: %s", w.events.all())
	}
}

// TestAPoolWithinThePoolIsToldAndNotDeleted has a person make a pool below the cluster's, which Proxmox VE then keeps.
func TestAPoolWithinThePoolIsToldAndNotDeleted(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	if err := w.root.Pools().Create(t.Context(), shopPool+"/more", ""); err != nil {
		t.Fatal(err)
	}
	w.deleteCluster()
	if err := w.remove(); err == nil || !strings.Contains(err.Error(), "pool kubehenge/team-a.shop cannot go yet: delete pool failed: pool 'kubehenge/team-a.shop' is not empty (contains pool 'kubehenge/team-a.shop/more')") {
		t.Errorf("got %v", err)
	}
	if err := w.root.Pools().Delete(t.Context(), shopPool+"/more"); err != nil {
		t.Fatal(err)
	}
	if err := w.remove(); err != nil || len(w.left()) > 0 {
		t.Errorf("%v; left %v", err, w.left())
	}
}

func (w *world) migrate(vmid int, to string) error {
	task, err := w.root.Changes().Migrate(w.t.Context(), vmid, to)
	if err != nil {
		return err
	}
	_, err = w.root.Tasks().Wait(w.t.Context(), task, nil)
	return err
}

// TestAVMThatCameAfterTheListsWereReadStopsTheRemoval has lists that are as old as they get.
func TestAVMThatCameAfterTheListsWereReadStopsTheRemoval(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	w.deleteCluster()
	w.clock.Step(proxmox.DefaultAge)
	if _, err := w.lists.Machines(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.machine(20001, shopPool, "kubehenge", "team-a.shop")
	if err := w.keeper.Remove(t.Context(), w.request()); err == nil || !strings.Contains(err.Error(), "still holds VM 20001") {
		t.Errorf("got %v", err)
	}
}

func TestAnOwnerVMOnANodeThatIsAwayIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	w.deleteCluster()
	node := w.pve.Snapshot().VM(ownerID).Node
	w.pve.AddFault(simulator.Fault{Who: access.AgentToken, Path: "^/nodes/" + node + "/", Status: 595, Reason: "No route to host"})
	var told *status.Told
	if err := w.remove(); !errors.As(err, &told) || told.Sentence != "waiting for node "+node+" of Proxmox VE, which the owner VM of the cluster's corner needs" {
		t.Errorf("got %v", err)
	}
	if err := w.pve.SetNodeOnline(node, false); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(proxmox.DefaultAge)
	w.pve.ForgetCalls()
	for range 5 {
		if err := w.keeper.Remove(t.Context(), w.request()); !errors.As(err, &told) || told.Sentence != "waiting for node "+node+" of Proxmox VE to be online, so that VM 20099 (shop-volumes) can be deleted" {
			t.Errorf("got %v", err)
		}
	}
	if n := len(w.pve.Calls()); n != 5 {
		t.Errorf("%d calls for 5 tries within seconds, want the 5 lists", n)
	}
	if err := w.pve.SetNodeOnline(node, true); err != nil {
		t.Fatal(err)
	}
	w.pve.ClearFaults()
	if err := w.remove(); err != nil {
		t.Fatal(err)
	}
	if left := w.left(); len(left) > 0 {
		t.Errorf("left: %s", strings.Join(left, ", "))
	}
}

// releases are volumes that have to go first.
type releases struct {
	asked []Owner
	fail  error
}

func (r *releases) Release(_ context.Context, o Owner) error {
	r.asked = append(r.asked, o)
	return r.fail
}

func TestVolumesGoBeforeTheirOwner(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	w.deleteCluster()
	v := &releases{fail: &status.Told{Kind: status.Waiting, Sentence: "waiting for node pve2, which may hold volumes of the cluster"}}
	w.keeper.Volumes = v
	if err := w.remove(); err == nil || !strings.Contains(err.Error(), "waiting for node pve2") || w.pve.Snapshot().VM(ownerID) == nil {
		t.Errorf("got %v", err)
	}
	v.fail = nil
	if err := w.remove(); err != nil {
		t.Fatal(err)
	}
	want := Owner{Cluster: shop, VMID: ownerID, Node: v.asked[0].Node, WorkloadPool: "kubehenge"}
	if !slices.Equal(v.asked, []Owner{want, want}) || len(w.left()) > 0 {
		t.Errorf("asked %+v, left %v", v.asked, w.left())
	}
}

// TestPeoplesEntriesOnThePoolGoWithIt since Proxmox VE keeps those of a nested pool.
func TestPeoplesEntriesOnThePoolGoWithIt(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	ctx := t.Context()
	mine := proxmox.Grant{Path: "/pool/" + shopPool, Role: access.ClusterRole, Kind: proxmox.GrantUser, To: "root@pam", Propagate: true}
	more := mine
	more.Role = "PVEVMAdmin"
	if err := errors.Join(w.root.Accounts().AddGrant(ctx, mine), w.root.Accounts().AddGrant(ctx, more)); err != nil {
		t.Fatal(err)
	}
	w.deleteCluster()
	if err := w.remove(); err != nil {
		t.Fatal(err)
	}
	if left := w.left(); !slices.Equal(left, []string{more.String()}) {
		t.Errorf("left: %v", left)
	}
	if want := "CornerGrantLeft: " + more.String() + " is left in Proxmox VE, since the agent may not take it away: remove it there"; !strings.Contains(w.events.all(), want) {
		t.Errorf("told: %s\nwant: %s", w.events.all(), want)
	}
}

// TestAnEarlierManagementClustersCornerIsNotTouched has another one find what this one made.
func TestAnEarlierManagementClustersCornerIsNotTouched(t *testing.T) {
	for name, prepare := range map[string]func(w *world) error{
		"all of it":            func(*world) error { return nil },
		"without the owner VM": func(w *world) error { return w.destroy(ownerID) },
		"the user and its token": func(w *world) error {
			return errors.Join(w.destroy(ownerID), w.root.Pools().Delete(w.t.Context(), shopPool))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.mustEnsure()
			old := w.credentials()
			if err := prepare(w); err != nil {
				t.Fatal(err)
			}
			later := w.later()
			later.pve.ForgetCalls()
			err := later.ensure()
			if err == nil || !strings.Contains(err.Error(), "user kh-team-a.shop@pve of an earlier management cluster is in Proxmox VE: it is not touched") {
				t.Errorf("got %v", err)
			}
			later.deleteCluster()
			later.remove()
			for _, call := range w.pve.Calls() {
				if call.User == access.AgentToken && call.Method != "GET" && strings.HasPrefix(call.Path, "/access") {
					t.Errorf("%s %s", call.Method, call.Path)
				}
			}
			if _, err := w.cluster(old).Version(t.Context()); err != nil {
				t.Errorf("the earlier cluster's token: %v", err)
			}
		})
	}
}

// later is a fresh management cluster over the same Proxmox VE.
func (w *world) later() *world {
	w.t.Helper()
	l := &world{t: w.t, pve: w.pve, root: w.root, clock: w.clock, fleet: w.fleet, key: w.key}
	l.client = l.server("6f1c0c1e-0000-4000-8000-00000000000f")
	l.start()
	claim := &v1alpha1.ClusterClaim{}
	claim.Namespace, claim.Name = l.key.Namespace, l.key.Name
	l.create(claim)
	claim.Status.Allocation = w.request().Claim.Status.Allocation
	if err := l.client.Status().Update(w.t.Context(), claim); err != nil {
		w.t.Fatal(err)
	}
	l.clustered()
	return l
}

// TestAClaimWithoutAnAllocationHasNoCorner has the tombstone of a claim that only an earlier management cluster ran.
func TestAClaimWithoutAnAllocationHasNoCorner(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	w.deleteCluster()
	r := w.request()
	r.Claim.Status.Allocation = nil
	w.pve.ForgetCalls()
	if err := w.keeper.Remove(t.Context(), r); err != nil || len(w.pve.Calls()) > 0 {
		t.Errorf("%v, %d calls", err, len(w.pve.Calls()))
	}
	if err := w.keeper.Ensure(t.Context(), r); !errors.Is(err, errNoAllocation) {
		t.Errorf("got %v", err)
	}
	if err := w.keeper.Remove(t.Context(), Request{Fleet: w.fleet}); err != nil {
		t.Errorf("without a claim: %v", err)
	}
}

// TestAMovedManagementClusterKeepsItsCorners has Clusters come to another management cluster with their annotations.
func TestAMovedManagementClusterKeepsItsCorners(t *testing.T) {
	w := newWorld(t)
	w.mustEnsure()
	cluster, secret := w.request().Cluster, w.secret()
	l := w.later()
	l.deleteCluster()
	cluster.ResourceVersion, secret.ResourceVersion = "", ""
	l.create(cluster)
	l.create(secret)
	l.mustEnsure()
	if wrong := l.audit(); len(wrong) > 0 {
		t.Error(strings.Join(wrong, "\n"))
	}
	if u := l.user(); !strings.Contains(u.Comment, "0000f)") {
		t.Errorf("the user still says %q", u.Comment)
	}
	if l.credentials() != w.credentials() {
		t.Error("the token was changed")
	}
}
