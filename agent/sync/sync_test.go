package sync

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

func TestAPushedClaimBecomesARunningCluster(t *testing.T) {
	w := newWorld(t)
	w.shop()
	commit := w.push()
	w.settle()
	c := w.wantPhase(shop, v1alpha1.PhaseRunning)
	if c.Status.Message != "Running; 2 of 2 nodes ready" {
		t.Errorf("message: %s", c.Status.Message)
	}
	if c.Status.ObservedRevision != commit {
		t.Errorf("observed revision is %s, want %s", c.Status.ObservedRevision, commit)
	}
	cluster := w.cluster(shop)
	if got := cluster.Annotations[v1alpha1.RevisionAnnotation]; got != commit {
		t.Errorf("revision on the Cluster is %q, want %q", got, commit)
	}
	var allocated string
	for _, v := range cluster.Spec.Topology.Variables {
		if v.Name == v1alpha1.AllocationVariable {
			allocated = string(v.Value.Raw)
		}
	}
	if want := `{"addresses":["10.0.40.50-10.0.40.59"],"vmIDs":{"end":20099,"start":20000}}`; allocated != want {
		t.Errorf("allocation is %s, want %s", allocated, want)
	}
}

func TestACommitWritesOnlyWhatItChanges(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	w.writes, w.allocator.calls = nil, 0
	w.files["clusters/README.md"] = []byte("hello")
	w.push()
	w.settle()
	if diff := cmp.Diff([]string{"status Fleet fleet"}, w.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if w.allocator.calls != 0 {
		t.Errorf("got %d calls of the allocator, want none", w.allocator.calls)
	}
}

func TestTheTemplatesInTheFleetsStatusAreNotItsReconcilers(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	f := w.liveFleet()
	f.Status.Templates = []v1alpha1.Templates{{TagPrefix: "kubeadm-", Versions: []string{"v1.36.3"}}}
	if err := w.client.Status().Update(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	w.writes = nil
	w.reconcileFleet()
	if len(w.writes) > 0 {
		t.Errorf("what another part wrote has the reconciler write %v", w.writes)
	}
}

func TestAMovedFolderChangesNoObject(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	before := w.claim(shop).ResourceVersion + w.cluster(shop).ResourceVersion
	w.remove("clusters/team-a/shop")
	w.overlay("clusters/elsewhere/renamed", shop, "10.0.40.10")
	w.push()
	w.settle()
	if after := w.claim(shop).ResourceVersion + w.cluster(shop).ResourceVersion; after != before {
		t.Errorf("the objects changed: %s, then %s", before, after)
	}
}

func TestABrokenOverlayStopsOnlyItself(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	w.shop("workres: 3")
	w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
	w.overlay("clusters/team-b/lost", lost, "10.0.40.12", "nonsense: true")
	w.push()
	w.settle()
	c := w.wantPhase(shop, v1alpha1.PhaseRunning)
	wantContains(t, c.Status.Message, "clusters/team-a/shop/claim.yaml:12")
	wantContains(t, condition(c, v1alpha1.ConditionRendered), "False Invalid clusters/team-a/shop/claim.yaml:12")
	w.wantPhase(cart, v1alpha1.PhaseRunning)
	overlays := w.liveFleet().Status.Overlays
	if len(overlays) != 1 || overlays[0].Path != "clusters/team-b/lost/claim.yaml" {
		t.Errorf("the Fleet's overlays are %+v, want the lost one alone: it has no claim to tell it at", overlays)
	}
}

func TestAVanishedClaimIsMarkedAndComesBackUnmarked(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
	w.push()
	w.settle()
	revision := w.claim(shop).Status.ObservedRevision
	w.remove("clusters/team-a/shop")
	w.push()
	w.settle()
	for range 2 {
		c := w.wantPhase(shop, v1alpha1.PhaseRunning)
		wantContains(t, c.Status.Message, "Not in Git since 12:03 and kept: restore its folder, or commit state: Deleted there; running; 2 of 2 nodes ready")
		wantContains(t, condition(c, v1alpha1.ConditionInGit), "False Vanished")
		w.restart()
	}
	w.shop()
	w.push()
	w.settle()
	c := w.wantPhase(shop, v1alpha1.PhaseRunning)
	if c.Status.Message != "Running; 2 of 2 nodes ready" {
		t.Errorf("message: %s", c.Status.Message)
	}
	if c.Status.ObservedRevision != revision {
		t.Errorf("the revision changed to %s though the bytes did not", c.Status.ObservedRevision)
	}
}

func TestATombstoneDeletesTheClusterAndItsFolderMayGo(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
	w.push()
	w.settle()
	w.shop("state: Deleted")
	tombstone := w.push()
	if err := w.once(); err != nil {
		t.Fatal(err)
	}
	if err := w.once(); err != nil {
		t.Fatal(err)
	}
	c := w.wantPhase(shop, v1alpha1.PhaseDeleting)
	if c.Status.ObservedRevision != tombstone {
		t.Errorf("observed revision is %s, want the tombstone's %s", c.Status.ObservedRevision, tombstone)
	}
	if c.Status.Message != "Deleting: 2 VMs left" {
		t.Errorf("message: %s", c.Status.Message)
	}
	w.settle()
	c = w.wantPhase(shop, v1alpha1.PhaseDeleted)
	if w.cluster(shop) != nil || w.allocator.given["team-a.shop"] != nil || c.Status.Allocation != nil {
		t.Errorf("left: cluster %v, allocation in Proxmox VE %v, in the status %v", w.cluster(shop) != nil, w.allocator.given["team-a.shop"], c.Status.Allocation)
	}
	w.remove("clusters/team-a/shop")
	w.push()
	w.settle()
	if err := w.client.Get(t.Context(), shop, &v1alpha1.ClusterClaim{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the live claim is still there (%v)", err)
	}
	w.wantPhase(cart, v1alpha1.PhaseRunning)
}

func TestADeletedClaimRunsAgainOnlyOnceProxmoxVEShowsNoVM(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	w.shop("state: Deleted")
	w.push()
	if err := w.once(); err != nil {
		t.Fatal(err)
	}
	w.shop()
	w.push()
	if err := w.once(); err != nil {
		t.Fatal(err)
	}
	c := w.wantPhase(shop, v1alpha1.PhaseDeleting)
	wantContains(t, c.Status.Message, "made anew afterwards, since Git asks for it again")
	w.clusterAPI()
	w.allocator.vms["team-a.shop"] = 1 // an orphan that Cluster API does not know
	for range 3 {
		if err := w.once(); err != nil {
			t.Fatal(err)
		}
	}
	c = w.wantPhase(shop, v1alpha1.PhaseDeleting)
	wantContains(t, c.Status.Message, "still holds 1 VMs")
	if w.cluster(shop) != nil {
		t.Fatal("the cluster was made while Proxmox VE still showed a VM of the old one")
	}
	w.allocator.vms["team-a.shop"] = 0
	w.settle()
	w.wantPhase(shop, v1alpha1.PhaseRunning)
}

func TestTheClassGoesWithItsLastCluster(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
	w.push()
	w.settle()
	if n := w.classObjects(); n == 0 {
		t.Fatal("no class object was applied")
	}
	w.shop("state: Deleted")
	w.push()
	w.settle()
	if n := w.classObjects(); n == 0 {
		t.Fatal("the class went while cart still uses it")
	}
	w.overlay("clusters/team-b/cart", cart, "10.0.40.11", "state: Deleted")
	w.push()
	w.settle()
	if n := w.classObjects(); n != 0 {
		t.Errorf("%d class objects are left after the last cluster", n)
	}
}

func TestAClassThatCannotBeAppliedIsToldAtTheClaim(t *testing.T) {
	w := newWorld(t)
	w.refuse = func(kind string) error {
		if kind == "KubeadmControlPlaneTemplate" {
			return apierrors.NewInternalError(errors.New("failed calling webhook: connection refused"))
		}
		return nil
	}
	w.shop()
	w.push()
	if err := w.once(); err == nil {
		t.Fatal("the class was applied all the same")
	}
	if c := w.wantPhase(shop, v1alpha1.PhasePending); !strings.Contains(c.Status.Message, "A webhook of Cluster API does not answer") {
		t.Errorf("the claim says %q", c.Status.Message)
	}
	w.refuse = nil
	w.settle()
	w.wantPhase(shop, v1alpha1.PhaseRunning)
}

func TestAClassThatSomebodyChangedIsPutBack(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	key := client.ObjectKey{Namespace: v1alpha1.SystemNamespace, Name: "kubeadm-1"}
	class := &clusterv1.ClusterClass{}
	if err := w.client.Get(t.Context(), key, class); err != nil {
		t.Fatal(err)
	}
	want := class.DeepCopy()
	class.Spec.Patches = nil
	if err := w.client.Update(t.Context(), class); err != nil {
		t.Fatal(err)
	}
	if err := w.reconciler.classes.restore(t.Context(), w.reconciler.Store.Get().Classes); err != nil {
		t.Fatal(err)
	}
	if err := w.client.Get(t.Context(), key, class); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Spec, class.Spec); diff != "" {
		t.Errorf("the class (-want +got):\n%s", diff)
	}
}

func TestACommitWithoutClustersChangesNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		break_ func(w *world)
		says   string
	}{
		"all of clusters/ is gone":    {func(w *world) { w.remove("clusters") }, "has no folder clusters/; nothing is changed, and the one cluster stays"},
		"the Fleet is gone":           {func(w *world) { delete(w.files, "clusters/fleet.yaml") }, "has no usable Fleet"},
		"the Fleet is broken":         {func(w *world) { w.files["clusters/fleet.yaml"] = []byte("spec: [") }, "clusters/fleet.yaml"},
		"all overlays vanish at once": {func(w *world) { w.remove("clusters/team-a") }, "leaves out all clusters; nothing is changed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.shop()
			good := w.push()
			w.settle()
			w.writes = nil
			tc.break_(w)
			tip := w.push()
			w.settle()
			for range 2 { // the second time after a restart
				s := w.liveFleet().Status.Source
				wantContains(t, s.Message, tc.says)
				if s.AppliedCommit != good || s.Tip != tip {
					t.Errorf("applied %s, tip %s; want %s, %s", s.AppliedCommit, s.Tip, good, tip)
				}
				if c := w.wantPhase(shop, v1alpha1.PhaseRunning); c.Status.Message != "Running; 2 of 2 nodes ready" {
					t.Errorf("message: %s", c.Status.Message)
				}
				w.restart()
			}
			if got := w.reconciler.Store.Get(); got == nil || got.Commit != good {
				t.Error("after a restart the last good commit is not in force")
			}
		})
	}
}

func TestAClaimThatWasNeverInGitIsToldAndLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.shop()
	foreign := &v1alpha1.ClusterClaim{}
	foreign.Namespace, foreign.Name = cart.Namespace, cart.Name
	foreign.Spec.State = v1alpha1.StateDeleted
	if err := w.client.Create(t.Context(), foreign, client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
	w.push()
	w.settle()
	c := w.claim(cart)
	wantContains(t, c.Status.Message, "No overlay ever rendered this claim, so it is left alone")
	if len(c.Status.Conditions) != 1 || c.Status.Phase != "" {
		t.Errorf("status: %+v", c.Status)
	}
}

func TestPruneDeletesNoMoreThanTheFleetLetsACommitDelete(t *testing.T) {
	for name, tc := range map[string]struct {
		remove []string
		gone   bool
	}{
		"one of one goes":         {[]string{"clusters/team-a/shop"}, true},
		"two where one may: none": {[]string{"clusters/team-a/shop", "clusters/team-b/cart"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.files["clusters/fleet.yaml"] = []byte(strings.Replace(string(w.files["clusters/fleet.yaml"]), "mode: Keep", "mode: Prune", 1))
			w.shop()
			w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
			w.overlay("clusters/team-b/lost", lost, "10.0.40.12")
			w.push()
			w.settle()
			for _, folder := range tc.remove {
				w.remove(folder)
			}
			w.push()
			w.settle()
			if gone := w.cluster(shop) == nil; gone != tc.gone {
				t.Errorf("gone is %v, want %v", gone, tc.gone)
			}
			if !tc.gone {
				wantContains(t, w.liveFleet().Status.Source.Message, "leaves out 2 clusters, more than the 1 that one commit may delete: they are kept")
				wantContains(t, w.claim(shop).Status.Message, "Not in Git since")
				w.restart()
				w.wantPhase(shop, v1alpha1.PhaseRunning)
			}
			w.wantPhase(lost, v1alpha1.PhaseRunning)
		})
	}
}

func TestNothingIsPrunedWhileAnOverlayIsTooBrokenToTellWhoseItIs(t *testing.T) {
	w := newWorld(t)
	w.replace("clusters/fleet.yaml", "mode: Keep", "mode: Prune")
	w.shop()
	w.overlay("clusters/team-b/cart", cart, "10.0.40.11")
	w.push()
	w.settle()
	w.remove("clusters/team-a/shop")
	w.files["clusters/moved/kustomization.yaml"] = []byte("namespace: [")
	w.push()
	w.settle()
	wantContains(t, w.wantPhase(shop, v1alpha1.PhaseRunning).Status.Message, "Not in Git since")
	wantContains(t, w.liveFleet().Status.Source.Message, "an overlay is too broken to tell whose it is")
}

func TestWhatSomebodyChangesIsPutBackAndTold(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	c := w.cluster(shop)
	c.Spec.Topology.Workers.MachineDeployments[0].Replicas = new(int32)
	if err := w.client.Update(t.Context(), c, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if got := *w.cluster(shop).Spec.Topology.Workers.MachineDeployments[0].Replicas; got != 1 {
		t.Errorf("replicas are %d, want Git's 1", got)
	}
	told := strings.Join(w.events.told, "\n")
	wantContains(t, told, "DriftCorrected: Cluster shop: spec.topology.workers.machineDeployments")
	wantContains(t, told, "was changed by kubectl-edit and is put back")
}

func TestARaisedVersionStaysAndIsTold(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.push()
	w.settle()
	c := w.cluster(shop)
	c.Spec.Topology.Version = "v1.36.4"
	if err := w.client.Update(t.Context(), c, client.FieldOwner("kubectl-edit")); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if got := w.cluster(shop).Spec.Topology.Version; got != "v1.36.4" {
		t.Errorf("version is %s; it cannot be lowered and must stay", got)
	}
	wantContains(t, w.wantPhase(shop, v1alpha1.PhaseRunning).Status.Message, "Running v1.36.4, which was raised by hand and cannot be lowered to Git's v1.36.3")
	if told := strings.Join(w.events.told, "\n"); strings.Contains(told, "DriftCorrected") {
		t.Errorf("told that it was put back: %s", told)
	}
}

func TestExtrasArePrunedWithinALiveClaim(t *testing.T) {
	w := newWorld(t)
	w.shop()
	w.withExtra("first")
	w.push()
	w.settle()
	if !w.extra("first") {
		t.Fatal("the ConfigMap was not applied")
	}
	w.withExtra("second")
	w.push()
	w.settle()
	if w.extra("first") || !w.extra("second") {
		t.Errorf("first is there: %v, second: %v; want only the second", w.extra("first"), w.extra("second"))
	}
	w.shop("state: Deleted")
	w.push()
	w.settle()
	if w.extra("second") {
		t.Error("the ConfigMap outlives its cluster")
	}
}
