package placement

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// world is a management cluster and a simulated Proxmox VE with a leader in between that is stepped by hand.
type world struct {
	t      *testing.T
	pve    *simulator.Server
	kube   client.WithWatch
	clock  *testclock.FakeClock
	board  *status.Board
	place  *Placement
	queue  map[types.NamespacedName]bool
	writes []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, pve: simulator.Start(t), clock: testclock.NewFakeClock(noon), queue: map[types.NamespacedName]bool{}}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	byCluster := func(o client.Object) []string { return []string{o.GetLabels()[clusterv1.ClusterNameLabel]} }
	w.kube = fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithIndex(&clusterv1.Machine{}, clusterIndex, byCluster).
		WithStatusSubresource(&clusterv1.Machine{}, &v1alpha1.Fleet{}).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			w.writes = append(w.writes, "apply")
			return c.Apply(ctx, o, opts...)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, name string, o runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
			w.writes = append(w.writes, name)
			return c.SubResource(name).Apply(ctx, o, opts...)
		},
	}).Build()
	w.start()
	return w
}

// start is a leader that has just begun; an earlier one was killed.
func (w *world) start() {
	w.t.Helper()
	secret, known := w.pve.TokenSecret(access.AgentToken)
	if !known {
		w.t.Fatal("the simulator has no token of the agent")
	}
	c, err := proxmox.Connect(proxmox.Options{URL: w.pve.URL(), TokenID: access.AgentToken, Secret: secret, CA: w.pve.CA()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.board = status.NewBoard(func(...types.NamespacedName) {})
	w.place = &Placement{Client: w.kube, Source: c, Store: &sync.Store{}, Board: w.board, Clock: w.clock,
		Enqueue: func(keys ...types.NamespacedName) {
			for _, key := range keys {
				w.queue[key] = true
			}
		}}
	w.place.Prepare()
}

// cluster makes a Cluster; made is whether Cluster API has begun with it.
func (w *world) cluster(name string, made bool, variables map[string]string) types.NamespacedName {
	w.t.Helper()
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID(name)}}
	c.Spec.Topology.ClassRef = clusterv1.ClusterClassRef{Name: "kubeadm-1", Namespace: v1alpha1.SystemNamespace}
	c.Spec.Topology.Version = "v1.36.3"
	variables["machine"] = `{"cores": 2, "memoryMiB": 2048, "diskGiB": 10}`
	for name, value := range variables {
		v := clusterv1.ClusterVariable{Name: name}
		v.Value.Raw = []byte(value)
		c.Spec.Topology.Variables = append(c.Spec.Topology.Variables, v)
	}
	if made {
		c.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: "ProxmoxCluster", Name: name, APIGroup: infraGroup}
	}
	if err := w.kube.Create(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(c)
	w.queue[key] = true // its watch
	return key
}

const infraGroup = "infrastructure.cluster.x-k8s.io"

// machine makes a Machine without a node, and join gives it one.
func (w *world) machine(cluster types.NamespacedName, name string) {
	w.t.Helper()
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster.Name}}}
	if err := w.kube.Create(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	w.queue[cluster] = true
}

func (w *world) join(cluster types.NamespacedName, name string) {
	w.t.Helper()
	m := &clusterv1.Machine{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: cluster.Namespace, Name: name}, m); err != nil {
		w.t.Fatal(err)
	}
	m.Status.NodeRef = clusterv1.MachineNodeReference{Name: name}
	if err := w.kube.Status().Update(w.t.Context(), m); err != nil {
		w.t.Fatal(err)
	}
	w.queue[cluster] = true
}

// look lets the leader look once and work off what that woke, some time later; it counts calls and writes.
func (w *world) look(later time.Duration) (calls, writes int, err error) {
	w.t.Helper()
	w.clock.Step(later)
	w.pve.ForgetCalls()
	w.writes = nil
	err = w.place.look(w.t.Context())
	w.work()
	return len(w.pve.Calls()), len(w.writes), err
}

func (w *world) work() {
	w.t.Helper()
	for key := range w.queue {
		delete(w.queue, key)
		if _, err := w.place.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) list(key types.NamespacedName) string {
	w.t.Helper()
	c := &clusterv1.Cluster{}
	if err := w.kube.Get(w.t.Context(), key, c); err != nil {
		w.t.Fatal(err)
	}
	list, known := c.Annotations[v1alpha1.OnlineNodesAnnotation]
	if !known {
		return "unknown"
	}
	return list
}

func (w *world) power(node string, on bool) {
	w.t.Helper()
	if err := w.pve.SetNodeOnline(node, on); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) wants(key types.NamespacedName, list string) {
	w.t.Helper()
	if diff := cmp.Diff(list, w.list(key)); diff != "" {
		w.t.Errorf("%s:\n%s", key, diff)
	}
}

func TestOneCallServesAllClustersAndOnlyWhatChangedIsWritten(t *testing.T) {
	w := newWorld(t)
	var keys []types.NamespacedName
	for i := range 50 {
		keys = append(keys, w.cluster(fmt.Sprintf("c%02d", i), true, map[string]string{}))
	}
	restricted := w.cluster("restricted", true, map[string]string{"nodes": `["pve3","pve1"]`})
	if calls, writes, err := w.look(0); calls != 1 || writes != 51 || err != nil {
		t.Errorf("%d calls, %d writes, %v", calls, writes, err)
	}
	w.wants(keys[0], "pve1,pve2,pve3")
	w.wants(restricted, "pve1,pve3")
	for range 4 {
		if calls, writes, err := w.look(quietInterval); calls != 1 || writes != 0 || err != nil {
			t.Errorf("nothing changed: %d calls, %d writes, %v", calls, writes, err)
		}
	}
	w.power("pve2", false)
	for range 3 {
		if _, writes, _ := w.look(quietInterval); writes != 0 {
			t.Errorf("away for less than 45 s: %d writes", writes)
		}
	}
	if _, writes, _ := w.look(quietInterval); writes != 50 {
		t.Errorf("away for 45 s: %d writes, want one for each cluster that listed it", writes)
	}
	w.wants(keys[49], "pve1,pve3")
}

func TestANodeThatFlapsChangesNothing(t *testing.T) {
	w := newWorld(t)
	key := w.cluster("shop", true, map[string]string{})
	_, _, _ = w.look(0)
	for range 5 {
		w.power("pve3", false)
		_, first, _ := w.look(quietInterval)
		_, second, _ := w.look(quietInterval)
		w.power("pve3", true)
		_, third, _ := w.look(quietInterval)
		if first+second+third != 0 {
			t.Fatalf("%d writes", first+second+third)
		}
	}
	w.wants(key, "pve1,pve2,pve3")
}

func TestAnOfflineNodeLeavesBeforeTheProviderAsksIt(t *testing.T) {
	w := newWorld(t)
	shop, idle := w.cluster("shop", true, map[string]string{}), w.cluster("idle", true, map[string]string{})
	_, _, _ = w.look(0)
	w.power("pve3", false)
	_, _, _ = w.look(quietInterval)
	w.wants(shop, "pve1,pve2,pve3")
	w.machine(shop, "shop-1") // Cluster API begins to make a machine
	w.work()
	w.wants(shop, "pve1,pve2")
	w.wants(idle, "pve1,pve2,pve3")
	w.power("pve3", true)
	w.join(shop, "shop-1")
	_, _, _ = w.look(quietInterval)
	w.wants(shop, "pve1,pve2")
	_, _, _ = w.look(quietInterval)
	_, _, _ = w.look(quietInterval)
	w.wants(shop, "pve1,pve2,pve3")
}

func TestAClusterThatBeginsToPlaceHasAFreshLookTaken(t *testing.T) {
	w := newWorld(t)
	shop := w.cluster("shop", true, map[string]string{})
	_, _, _ = w.look(0)
	if got := w.place.interval(); got != quietInterval {
		t.Errorf("the next look is due in %s", got)
	}
	w.clock.Step(10 * time.Second)
	w.machine(shop, "shop-1")
	w.work()
	select {
	case <-w.place.kick:
	default:
		t.Error("no look was asked for")
	}
	if got := w.place.interval(); got != busyInterval {
		t.Errorf("while it places, looks are %s apart", got)
	}
	w.join(shop, "shop-1")
	w.work()
	if got := w.place.interval(); got != quietInterval {
		t.Errorf("afterwards looks are %s apart", got)
	}
}

func TestAnAgentThatWasKilledKeepsWhatIsListed(t *testing.T) {
	w := newWorld(t)
	shop := w.cluster("shop", true, map[string]string{})
	_, _, _ = w.look(0)
	w.power("pve1", false)
	for range 4 {
		_, _, _ = w.look(quietInterval)
	}
	w.wants(shop, "pve2,pve3")
	w.start()
	if _, writes, _ := w.look(quietInterval); writes != 0 {
		t.Errorf("%d writes after a start", writes)
	}
	w.wants(shop, "pve2,pve3")
}

func TestProxmoxVEThatDoesNotAnswerChangesNothingAndIsTold(t *testing.T) {
	w := newWorld(t)
	old := w.cluster("old", true, map[string]string{})
	_, _, _ = w.look(0)
	w.pve.AddFault(simulator.Fault{Path: "/cluster/resources", Status: 500, Reason: "got no worker upid"})
	for range 6 {
		if _, writes, err := w.look(quietInterval); err == nil || writes != 0 {
			t.Fatalf("%d writes, error %v", writes, err)
		}
	}
	fresh := w.cluster("fresh", false, map[string]string{})
	w.work()
	w.wants(old, "pve1,pve2,pve3")
	w.wants(fresh, "unknown")
	notices := w.board.Notices(fresh)
	if len(notices) != 1 || notices[0].Sentence != "Proxmox VE does not tell the agent which of its nodes are online" {
		t.Errorf("notices %+v", notices)
	}
	if len(w.board.Notices(old)) != 0 {
		t.Error("a cluster that places nothing is told")
	}
	w.pve.ClearFaults()
	_, _, _ = w.look(quietInterval)
	w.wants(fresh, "pve1,pve2,pve3")
	if len(w.board.Notices(fresh)) != 0 {
		t.Error("the notice stays")
	}
}

func TestATemplateIsNotedWithTheVersionItIsOf(t *testing.T) {
	w := newWorld(t)
	shop := w.cluster("shop", false, map[string]string{})
	_, _, _ = w.look(0)
	note := func() string {
		c := &clusterv1.Cluster{}
		if err := w.kube.Get(t.Context(), shop, c); err != nil {
			t.Fatal(err)
		}
		return c.Annotations[v1alpha1.TemplateAnnotation]
	}
	if got := note(); got != "v1.36.3" {
		t.Errorf("noted %q", got)
	}
	c := &clusterv1.Cluster{}
	if err := w.kube.Get(t.Context(), shop, c); err != nil {
		t.Fatal(err)
	}
	c.Spec.Topology.Version = "v1.36.77"
	if err := w.kube.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.queue[shop] = true
	w.work()
	if got := note(); !strings.HasPrefix(got, "v1.36.77: No VM template carries the tags kubehenge and kubeadm-v1.36.77; there are templates of v1.36.3") {
		t.Errorf("noted %q", got)
	}
	if n := w.board.Notices(shop); len(n) != 1 || !strings.HasPrefix(n[0].Sentence, "No VM template carries") {
		t.Errorf("notices %+v", n)
	}
}

func TestAClusterThatGoesIsForgotten(t *testing.T) {
	w := newWorld(t)
	shop := w.cluster("shop", false, map[string]string{"nodes": `["pve9"]`})
	_, _, _ = w.look(0)
	w.wants(shop, "")
	if len(w.board.Notices(shop)) == 0 || len(w.place.busy) == 0 {
		t.Fatal("nothing is known of it")
	}
	if err := w.kube.Delete(t.Context(), &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name}}); err != nil {
		t.Fatal(err)
	}
	w.queue[shop] = true
	w.work()
	if len(w.board.Notices(shop)) != 0 || len(w.place.busy) != 0 {
		t.Errorf("%v, %v", w.board.Notices(shop), w.place.busy)
	}
}

func TestClustersOfOtherClassesAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "foreign"}}
	c.Spec.Topology.ClassRef = clusterv1.ClusterClassRef{Name: "kubeadm-1", Namespace: "team-a"}
	if err := w.kube.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, writes, err := w.look(0); writes != 0 || err != nil {
		t.Errorf("%d writes, %v", writes, err)
	}
}

// fleet makes the Fleet, as the first commit does.
func (w *world) fleet() {
	w.t.Helper()
	f := &v1alpha1.Fleet{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.FleetName, UID: "f"}}
	if err := w.kube.Create(w.t.Context(), f); err != nil {
		w.t.Fatal(err)
	}
	f.Status.Source.Message = "In step"
	if err := w.kube.Status().Update(w.t.Context(), f); err != nil {
		w.t.Fatal(err)
	}
}

// status is the Fleet's.
func (w *world) status() v1alpha1.FleetStatus {
	w.t.Helper()
	f := &v1alpha1.Fleet{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey{Name: v1alpha1.FleetName}, f); err != nil {
		w.t.Fatal(err)
	}
	return f.Status
}

func TestTheFleetTellsWhichVersionsHaveATemplateBeforeThereIsACluster(t *testing.T) {
	w := newWorld(t)
	if _, writes, err := w.look(0); writes != 0 || err != nil {
		t.Errorf("there is no Fleet yet: %d writes, %v", writes, err)
	}
	w.fleet()
	if _, writes, err := w.look(quietInterval); writes != 1 || err != nil {
		t.Errorf("%d writes, %v", writes, err)
	}
	want := []v1alpha1.Templates{{TagPrefix: "kubeadm-", Versions: []string{"v1.36.3", "v1.36.4"}}}
	if diff := cmp.Diff(want, w.status().Templates); diff != "" || w.status().Source.Message != "In step" {
		t.Errorf("%s; the status is %+v", diff, w.status())
	}
	for range 3 {
		if _, writes, _ := w.look(quietInterval); writes != 0 {
			t.Errorf("%d writes for the same versions", writes)
		}
	}
	for _, l := range []*look{{quorate: false}, {quorate: true}} {
		if err := w.place.noteTemplates(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if got := w.status(); (len(got.Templates) == 0) != l.quorate || got.Source.Message != "In step" {
			t.Errorf("no template is seen, by a node that is quorate: %t; the status is %+v", l.quorate, got)
		}
	}
}

func TestVersionsAreToldOfTemplatesThatCanBeMeant(t *testing.T) {
	row := func(id int, tags string) proxmox.Machine {
		return proxmox.Machine{VMID: id, Type: "qemu", Template: true, TagText: tags}
	}
	mute := row(8, "kubehenge;kubeadm-v1.39.0")
	mute.Template, mute.Status = false, "unknown"
	l := newLook(proxmox.Resources{Machines: []proxmox.Machine{
		row(1, "kubehenge;kubeadm-v1.36.10"), row(2, "KUBEHENGE;Kubeadm-v1.36.9"), row(3, "kubehenge;rke2-v1.36.3+rke2r1"),
		row(4, "kubehenge;kubeadm-v1.35.0"), row(5, "kubehenge;kubeadm-v1.35.0"), // two of one version
		row(6, "kubeadm-v1.34.0"), row(7, "kubehenge;kubeadm-latest"), mute, row(9, "kubehenge;v1.33.0"),
	}}, history{}, noon)
	want := []v1alpha1.Templates{{TagPrefix: "kubeadm-", Versions: []string{"v1.36.9", "v1.36.10"}}, {TagPrefix: "rke2-", Versions: []string{"v1.36.3+rke2r1"}}}
	if diff := cmp.Diff(want, l.byPrefix()); diff != "" {
		t.Error(diff)
	}
}
