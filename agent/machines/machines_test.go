package machines_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/api/v1alpha1"
)

var shop = machinestest.Key("team-a", "shop")

func list(t *testing.T, w *machinestest.World) map[types.NamespacedName]*machines.Cluster {
	t.Helper()
	all, err := machines.List(t.Context(), w.Client)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAMachineIsReadWithItsVM(t *testing.T) {
	w := machinestest.New(t)
	w.Cluster(shop, nil)
	made := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	w.Put(machinestest.Machine{Cluster: shop, Name: "cp-1", ControlPlane: true, Created: made, Joined: true, VMID: 20001, Node: "pve1", Reason: "Cloning",
		Message: "m", Provisioned: true, Addressed: true, Busy: true, Owner: "waits", Deleting: clusterv1.MachineDeletingWaitingForPreTerminateHookReason,
		Annotations: map[string]string{v1alpha1.HAHookAnnotation: "in-ha", clusterv1.RemediateMachineAnnotation: "", clusterv1.PausedAnnotation: "",
			clusterv1.MachineSkipRemediationAnnotation: ""}})
	want := &machines.Machine{Namespace: "team-a", Name: "cp-1", Cluster: "shop", UID: "machine-cp-1", ControlPlane: true, Created: made, Held: true, Joined: true, Ready: true,
		Hooked: true, Hook: "in-ha", Marked: true, Exempt: true, Paused: true, Owner: "waits",
		VM: machines.VM{Name: "cp-1", UID: "vm-cp-1", ID: 20001, Node: "pve1", Provisioned: true, Addressed: true, Busy: true, Reason: "Cloning", Message: "m"}}
	got := list(t, w)[shop].Machines[0]
	got.Created = got.Created.UTC()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if !got.Staying() || got.Key() != shop {
		t.Error("it does not stay in its cluster")
	}
}

func TestMachinesComeToTheirClusterAndOthersAreLeftOut(t *testing.T) {
	w := machinestest.New(t)
	w.Cluster(shop, nil)
	w.Cluster(machinestest.Key("team-b", "hand-made"), func(c *clusterv1.Cluster) { c.Labels = nil })
	for _, name := range []string{"w-2", "w-1"} {
		w.Put(machinestest.Machine{Cluster: shop, Name: name, VMID: 20000})
	}
	w.Put(machinestest.Machine{Cluster: machinestest.Key("team-b", "hand-made"), Name: "x"})
	forced := machinestest.Key("team-a", "w-2")
	w.Put(machinestest.Machine{Cluster: shop, Name: "w-3", VMID: 20003})
	m := w.Live(machinestest.Key("team-a", "w-3"))
	m.Finalizers = nil
	if err := w.Client.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	w.Delete(m)
	w.Delete(w.Live(forced))
	all := list(t, w)
	if len(all) != 1 {
		t.Fatalf("%d clusters, want the one of the claim", len(all))
	}
	c := all[shop]
	if len(c.Machines) != 2 || c.Machines[0].Name != "w-1" || c.Machines[1].Staying() || len(c.Strays) != 1 || c.Strays[0].ID != 20003 {
		t.Errorf("machines %+v, strays %+v", c.Machines, c.Strays)
	}
	if len(c.ControlPlane()) != 0 {
		t.Error("workers are taken for the control plane")
	}
}

func TestWhatAClusterSaysOfItself(t *testing.T) {
	c := &machines.Cluster{}
	if !c.Leaving() || c.Paused() || c.Initialized() || c.Reachable() {
		t.Error("a cluster that is gone says something else than that it leaves")
	}
	c.Object = &clusterv1.Cluster{}
	c.Object.Spec.Paused = ptr.To(true)
	c.Object.Status.Initialization.ControlPlaneInitialized = ptr.To(true)
	c.Object.Status.Conditions = []metav1.Condition{{Type: clusterv1.ClusterRemoteConnectionProbeCondition, Status: metav1.ConditionTrue}}
	if c.Leaving() || !c.Paused() || !c.Initialized() || !c.Reachable() {
		t.Error("a live cluster is not read")
	}
	c.Object.DeletionTimestamp = ptr.To(metav1.Now())
	if !c.Leaving() {
		t.Error("a cluster that is being deleted stays")
	}
}

func TestAnAnnotationComesAndGoesAndLeavesOthers(t *testing.T) {
	w := machinestest.New(t)
	w.Cluster(shop, nil)
	w.Put(machinestest.Machine{Cluster: shop, Name: "w-1", Annotations: map[string]string{"other": "stays"}})
	m := list(t, w)[shop].Machines[0]
	ctx := t.Context()
	for _, o := range []machines.Object{m.Object(), m.VMObject(), list(t, w)[shop].AsObject()} {
		if err := machines.Annotate(ctx, w.Client, o, "test", "mine", "here"); err != nil {
			t.Fatal(err)
		}
	}
	live := w.Live(machinestest.Key("team-a", "w-1"))
	if d := cmp.Diff(map[string]string{"other": "stays", "mine": "here"}, live.Annotations); d != "" {
		t.Error(d)
	}
	if w.LiveVM(machinestest.Key("team-a", "w-1")).GetAnnotations()["mine"] != "here" || w.LiveCluster(shop).Annotations["mine"] != "here" {
		t.Error("VM or cluster are not annotated")
	}
	for range 2 { // one that is not there is success
		if err := machines.Unannotate(ctx, w.Client, m.Object(), "test", "mine"); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[string]string{"other": "stays"}, w.Live(machinestest.Key("team-a", "w-1")).Annotations); d != "" {
		t.Error(d)
	}
	w.Remove(machinestest.Key("team-a", "w-1"))
	if err := machines.Annotate(ctx, w.Client, m.Object(), "test", "mine", "here"); !apierrors.IsNotFound(err) {
		t.Errorf("an object that is gone: %v", err)
	}
}
