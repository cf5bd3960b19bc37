package sync

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/agent/source"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/classes"
	"kubehenge.dev/clusters"
	"kubehenge.dev/render"
)

// world is a management cluster with a Cluster API that does at once what it is told, an allocator, and a
// repository in memory. The agent in it can be killed and started anew.
type world struct {
	t         *testing.T
	clock     *testclock.FakeClock
	client    client.WithWatch
	refuse    func(kind string) error // what the API server says against an apply; nil takes all
	writes    []string                // the agent's writes to the API server since the last look
	others    int                     // everybody else's
	allocator *ledgerAllocator
	corners   *corners
	files     map[string][]byte
	trees     map[string]render.Tree
	commits   int

	// The agent's memory; kill replaces it.
	intake     *Intake
	fleet      *FleetReconciler
	reconciler *Reconciler
	queue      map[types.NamespacedName]bool
	events     *eventLog
}

// shop is the claim that most tests are about.
var shop = types.NamespacedName{Namespace: "team-a", Name: "shop"}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC)), allocator: newLedger(),
		files: map[string][]byte{}, trees: map[string]render.Tree{}}
	w.corners = newCorners(w.allocator)
	w.client = w.server()
	copyFiles(t, w.files, "classes", classes.Files, ".")
	fleet, err := clusters.Files.ReadFile("fleet.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.files["clusters/fleet.yaml"] = fleet
	w.start()
	return w
}

func copyFiles(t *testing.T, into map[string][]byte, to string, from fs.FS, root string) {
	t.Helper()
	err := fs.WalkDir(from, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		into[path.Join(to, p)], err = fs.ReadFile(from, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	for _, kind := range otherKinds {
		s.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
		s.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &unstructured.UnstructuredList{})
	}
	return s
}

// otherKinds are kinds without importable Go types, or that need none here.
var otherKinds = []schema.GroupVersionKind{
	vmKind,
	{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha2", Kind: "ProxmoxMachineTemplate"},
	{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha2", Kind: "ProxmoxClusterTemplate"},
	{Group: "bootstrap.cluster.x-k8s.io", Version: "v1beta2", Kind: "KubeadmConfigTemplate"},
}

// server is the API server; it notes each write.
func (w *world) server() client.WithWatch {
	scheme := testScheme()
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion, clusterv1.GroupVersion, controlplanev1.GroupVersion,
		{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha2"}, {Group: "bootstrap.cluster.x-k8s.io", Version: "v1beta2"}, v1alpha1.GroupVersion})
	for kind := range scheme.AllKnownTypes() {
		scope := meta.RESTScopeNamespace
		if kind.Kind == "Namespace" || kind.Kind == "Fleet" {
			scope = meta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithReturnManagedFields().
		WithStatusSubresource(&v1alpha1.ClusterClaim{}, &v1alpha1.Fleet{}, &clusterv1.Cluster{}, &clusterv1.Machine{}, &controlplanev1.KubeadmControlPlane{})
	for _, o := range []client.Object{&clusterv1.Machine{}, &controlplanev1.KubeadmControlPlane{}, vmObject()} {
		b = b.WithIndex(o, clusterIndex, clusterOf)
	}
	return b.WithInterceptorFuncs(w.noting()).Build()
}

func (w *world) noting() interceptor.Funcs {
	note := func(verb string, o any) {
		if u, ok := o.(interface {
			GetKind() string
			GetName() string
		}); ok {
			w.writes = append(w.writes, verb+" "+u.GetKind()+" "+u.GetName())
			return
		}
		w.writes = append(w.writes, fmt.Sprintf("%s %T", verb, o))
	}
	return interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			note("apply", o)
			if u, ok := o.(interface{ GetKind() string }); ok && w.refuse != nil {
				if err := w.refuse(u.GetKind()); err != nil {
					return err
				}
			}
			return c.Apply(ctx, o, opts...)
		},
		SubResourceApply: func(ctx context.Context, c client.Client, sub string, o runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
			note(sub, o)
			return replaceStatus(ctx, c, o)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			w.others++
			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			w.others++
			return c.Update(ctx, o, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			w.others++
			return c.SubResource(sub).Update(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			note("delete", o)
			return c.Delete(ctx, o, opts...)
		},
	}
}

// replaceStatus does what applying the status does where it has one writer. The fake client cannot: it makes the
// manager of the main resource own the status, too, so that no field of it ever goes away.
func replaceStatus(ctx context.Context, c client.Client, o runtime.ApplyConfiguration) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	var kind metav1.TypeMeta
	if err := json.Unmarshal(data, &kind); err != nil {
		return err
	}
	if kind.Kind == "Fleet" {
		var want, live v1alpha1.Fleet
		if err := json.Unmarshal(data, &want); err != nil {
			return err
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(&want), &live); err != nil {
			return err
		}
		live.Status = want.Status
		return c.Status().Update(ctx, &live)
	}
	var want, live v1alpha1.ClusterClaim
	if err := json.Unmarshal(data, &want); err != nil {
		return err
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(&want), &live); err != nil {
		return err
	}
	live.Status = want.Status
	return c.Status().Update(ctx, &live)
}

// start is a fresh agent: it knows only what is live and what the repository holds.
func (w *world) start() {
	store := &Store{}
	w.queue = map[types.NamespacedName]bool{}
	w.events = &eventLog{}
	w.intake = &Intake{Client: w.client, Renderer: render.New(), Store: store, Clock: w.clock, Changed: func() {},
		Enqueue: func(keys ...types.NamespacedName) {
			for _, k := range keys {
				w.queue[k] = true
			}
		},
		Tree: func(commit string) (render.Tree, error) {
			if t, ok := w.trees[commit]; ok {
				return t, nil
			}
			return nil, fs.ErrNotExist
		},
		LastApplied: func(ctx context.Context) string {
			fleet := &v1alpha1.Fleet{}
			_ = w.client.Get(ctx, types.NamespacedName{Name: v1alpha1.FleetName}, fleet) // absent: nothing was applied
			return fleet.Status.Source.AppliedCommit
		},
	}
	w.fleet = &FleetReconciler{Client: w.client, Direct: w.client, Store: store, Intake: w.intake}
	w.fleet.Prepare()
	w.reconciler = &Reconciler{Client: w.client, Direct: w.client, Store: store, Allocator: w.allocator, Corners: w.corners, Clock: w.clock, Events: w.events}
	w.reconciler.Prepare()
}

const claimYAML = `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: NAME
spec:
  class: kubeadm-1
  version: v1.36.3
  network: lan
  endpoint: ENDPOINT
  controlPlane: {replicas: 1, size: small}
  workers: {replicas: 1, size: medium}
`

// overlay writes an overlay's files; extra lines end the claim's spec.
func (w *world) overlay(folder string, key types.NamespacedName, endpoint string, extra ...string) {
	claim := strings.NewReplacer("NAME", key.Name, "ENDPOINT", endpoint).Replace(claimYAML)
	for _, line := range extra {
		claim += "  " + line + "\n"
	}
	w.files[folder+"/claim.yaml"] = []byte(claim)
	w.files[folder+"/kustomization.yaml"] = []byte("namespace: " + key.Namespace + "\nresources: [claim.yaml]\n")
}

func (w *world) shop(extra ...string) {
	w.overlay("clusters/team-a/shop", shop, "10.0.40.10", extra...)
}

// remove drops all files below a folder.
func (w *world) remove(folder string) {
	maps.DeleteFunc(w.files, func(name string, _ []byte) bool { return strings.HasPrefix(name, folder+"/") })
}

// push makes a commit of the files; the agent takes it.
func (w *world) push() string {
	w.t.Helper()
	w.commits++
	commit := fmt.Sprintf("%040d", w.commits)
	w.trees[commit] = render.Memory(maps.Clone(w.files))
	w.take(commit)
	return commit
}

// take lets the agent take the commit; it is what the source does at the start, too.
func (w *world) take(commit string) {
	w.t.Helper()
	ctx := w.t.Context()
	live, err := w.intake.live(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	why, err := w.intake.consider(ctx, commit, "", w.trees[commit], live)
	if err != nil {
		w.t.Fatal(err)
	}
	if why != "" {
		if err := w.intake.resume(ctx, commit, live); err != nil {
			w.t.Fatal(err)
		}
	}
	w.intake.remember(commit, why)
	w.intake.state = source.State{Tip: commit, Reason: source.InStep, Message: "In step", Since: w.clock.Now()}
	w.reconcileFleet()
}

func (w *world) reconcileFleet() {
	w.t.Helper()
	if _, err := w.fleet.Reconcile(w.t.Context(), reconcile.Request{}); err != nil {
		w.t.Fatal(err)
	}
}

// once reconciles everything that is woken, and every live claim, one time.
func (w *world) once() error {
	live, err := w.intake.live(w.t.Context())
	if err != nil {
		return err
	}
	keys := maps.Clone(w.queue)
	clear(w.queue)
	for k := range live {
		keys[k] = true
	}
	for _, k := range slices.SortedFunc(maps.Keys(keys), compareKeys) {
		if _, err := w.reconciler.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: k}); err != nil {
			return err
		}
	}
	return nil
}

// settle lets agent and Cluster API work until both have nothing to do.
func (w *world) settle() {
	w.t.Helper()
	for range 12 {
		before := len(w.writes) + w.others
		if err := w.once(); err != nil {
			w.t.Fatal(err)
		}
		w.clusterAPI()
		if len(w.writes)+w.others == before {
			break
		}
	}
	w.reconcileFleet()
}

func (w *world) claim(key types.NamespacedName) *v1alpha1.ClusterClaim {
	w.t.Helper()
	c := &v1alpha1.ClusterClaim{}
	if err := w.client.Get(w.t.Context(), key, c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// cluster is the live Cluster; nil when there is none.
func (w *world) cluster(key types.NamespacedName) *clusterv1.Cluster {
	w.t.Helper()
	c := &clusterv1.Cluster{}
	if err := w.client.Get(w.t.Context(), key, c); client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	} else if err != nil {
		return nil
	}
	return c
}

func (w *world) wantPhase(key types.NamespacedName, phase v1alpha1.Phase) *v1alpha1.ClusterClaim {
	w.t.Helper()
	c := w.claim(key)
	if c.Status.Phase != phase {
		w.t.Fatalf("phase of %s is %q (%s), want %q", key, c.Status.Phase, c.Status.Message, phase)
	}
	return c
}

func wantContains(t *testing.T, got, want string) {
	t.Helper()
	if !strings.Contains(got, want) {
		t.Errorf("got %q, want something with %q", got, want)
	}
}

// eventLog keeps events in memory.
type eventLog struct{ told []string }

func (e *eventLog) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	e.told = append(e.told, reason+": "+fmt.Sprintf(note, args...))
}

// ledgerAllocator is an allocator in memory that outlives the agent, as Proxmox VE does.
type ledgerAllocator struct {
	given map[string]*v1alpha1.Allocation
	next  int32
	vms   map[string]int // VMs that Proxmox VE still shows, by cluster
	fail  error
	calls int
}

func newLedger() *ledgerAllocator {
	return &ledgerAllocator{given: map[string]*v1alpha1.Allocation{}, next: 20000, vms: map[string]int{}}
}

func (l *ledgerAllocator) Ensure(_ context.Context, r allocation.Request) (*v1alpha1.Allocation, error) {
	l.calls++
	if l.fail != nil {
		return nil, l.fail
	}
	name := r.Namespace + "." + r.Name
	if l.given[name] == nil {
		n := (l.next - 20000) / 100
		l.given[name] = &v1alpha1.Allocation{Network: r.Network, Addresses: []string{fmt.Sprintf("10.0.40.%d-10.0.40.%d", 50+10*n, 59+10*n)},
			VMIDs: v1alpha1.IDRange{Start: l.next, End: l.next + 99}}
		l.next += 100
	}
	return l.given[name].DeepCopy(), nil
}

func (l *ledgerAllocator) Release(_ context.Context, _ *v1alpha1.Fleet, namespace, name string) error {
	key := namespace + "." + name
	if n := l.vms[key]; n > 0 {
		return &allocation.Error{Kind: allocation.Occupied, Message: fmt.Sprintf("pool kubehenge/%s still holds %d VMs", key, n)}
	}
	delete(l.given, key)
	return nil
}

// clusterAPI does what Cluster API and its provider do, in one go: machines for each Cluster, and their end.
func (w *world) clusterAPI() {
	w.t.Helper()
	var list clusterv1.ClusterList
	if err := w.client.List(w.t.Context(), &list); err != nil {
		w.t.Fatal(err)
	}
	for i := range list.Items {
		c := &list.Items[i]
		name := c.Namespace + "." + c.Name
		if !c.DeletionTimestamp.IsZero() {
			w.takeDown(c)
			w.allocator.vms[name] = 0
			continue
		}
		w.allocator.vms[name] = 2
		w.build(c)
	}
}

// takeDown removes a cluster's machines, then its finalizer.
func (w *world) takeDown(c *clusterv1.Cluster) {
	w.t.Helper()
	ctx := w.t.Context()
	mine := []client.DeleteAllOfOption{client.InNamespace(c.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: c.Name}}
	for _, o := range []client.Object{&clusterv1.Machine{}, &controlplanev1.KubeadmControlPlane{}, vmObject()} {
		if err := w.client.DeleteAllOf(ctx, o, mine...); err != nil {
			w.t.Fatal(err)
		}
	}
	c.Finalizers = nil
	if err := w.client.Update(ctx, c, client.FieldOwner("capi")); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) build(c *clusterv1.Cluster) {
	w.t.Helper()
	ctx := w.t.Context()
	if len(c.Finalizers) == 0 {
		c.Finalizers = []string{clusterv1.ClusterFinalizer}
		if err := w.client.Update(ctx, c, client.FieldOwner("capi")); err != nil {
			w.t.Fatal(err)
		}
	}
	labels := map[string]string{clusterv1.ClusterNameLabel: c.Name}
	w.plane(c, labels)
	w.machine(c, c.Name+"-cp-a", map[string]string{clusterv1.MachineControlPlaneLabel: ""})
	w.machine(c, c.Name+"-workers-a", map[string]string{clusterv1.ClusterTopologyMachineDeploymentNameLabel: "workers"})
	if len(c.Status.Conditions) > 0 {
		return
	}
	c.Status.Conditions = []metav1.Condition{yes(clusterv1.ClusterControlPlaneAvailableCondition), yes(clusterv1.ClusterRemoteConnectionProbeCondition)}
	if err := w.client.Status().Update(ctx, c, client.FieldOwner("capi")); err != nil {
		w.t.Fatal(err)
	}
}

func yes(kind string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: metav1.NewTime(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))}
}

// plane makes the control plane, or brings it to the cluster's version.
func (w *world) plane(c *clusterv1.Cluster, labels map[string]string) {
	w.t.Helper()
	p := &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name, Labels: labels}}
	w.make(p)
	if p.Status.Version == c.Spec.Topology.Version {
		return
	}
	p.Status.Version = c.Spec.Topology.Version
	if err := w.client.Status().Update(w.t.Context(), p, client.FieldOwner("capi")); err != nil {
		w.t.Fatal(err)
	}
}

// machine makes a machine with its VM and a ready node, or brings it to the cluster's version.
func (w *world) machine(c *clusterv1.Cluster, name string, labels map[string]string) {
	w.t.Helper()
	labels[clusterv1.ClusterNameLabel] = c.Name
	vm := vmObject()
	vm.SetNamespace(c.Namespace)
	vm.SetName(name)
	vm.SetLabels(labels)
	w.make(vm)
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Labels: labels}}
	w.make(m)
	if m.Spec.Version == c.Spec.Topology.Version {
		return
	}
	m.Spec.Version = c.Spec.Topology.Version
	m.Spec.InfrastructureRef.Name = name
	if err := w.client.Update(w.t.Context(), m, client.FieldOwner("capi")); err != nil {
		w.t.Fatal(err)
	}
	m.Status.NodeRef.Name = name
	m.Status.Conditions = []metav1.Condition{yes(clusterv1.MachineNodeReadyCondition), yes(clusterv1.MachineUpToDateCondition)}
	if err := w.client.Status().Update(w.t.Context(), m, client.FieldOwner("capi")); err != nil {
		w.t.Fatal(err)
	}
}

// make creates an object, or reads the one there is into it.
func (w *world) make(o client.Object) {
	w.t.Helper()
	err := w.client.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
	if err == nil {
		return
	}
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	if err := w.client.Create(w.t.Context(), o, client.FieldOwner("capi")); err != nil {
		w.t.Fatal(err)
	}
}
