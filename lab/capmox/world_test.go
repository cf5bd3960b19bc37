package capmox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/lab/capmox"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/cluster"
	"kubehenge.dev/lab/capmox/machine"
	"kubehenge.dev/lab/capmox/session"
)

const (
	namespace = "team-a"
	token     = "kubehenge-provider@pve!capmox"
	secret    = "00000000-0000-0000-0000-000000000001"
)

// jumping is a clock by which every wait has passed at once: capmox's own pace, without its time.
type jumping struct{ *clocktesting.FakeClock }

func newClock() jumping { return jumping{clocktesting.NewFakeClock(time.Unix(1796021400, 0))} }

// After implements clock.Clock.
func (c jumping) After(d time.Duration) <-chan time.Time {
	c.Step(d)
	passed := make(chan time.Time, 1)
	passed <- c.Now()
	return passed
}

// world is a management cluster with one Cluster and one Machine, whose controllers are run by hand. The API server's
// events, which decide in life when a controller runs, are the test's to give.
type world struct {
	t        *testing.T
	client   client.Client // as the controllers see it: their cache may lag
	truth    client.Client
	machines *machine.Reconciler
	clusters *cluster.Reconciler
	name     string // of Machine and ProxmoxMachine
	clock    jumping

	statuses []infrav1.ProxmoxMachineStatus // the ProxmoxMachine's, without conditions, after each write
	lag      bool                           // the next read misses the last write of them
	err      error                          // the last reconcile's
	requeue  time.Duration                  // the last reconcile's
}

// newWorld makes the objects as Cluster API and a kubeadm class do; change them before they are stored.
func newWorld(t *testing.T, machineName string, change ...func(*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine)) *world {
	t.Helper()
	w := &world{t: t, name: machineName, clock: newClock()}
	infraCluster, infraMachine := w.infraObjects()
	for _, c := range change {
		c(infraCluster, infraMachine)
	}
	objects := append(w.coreObjects(), infraCluster, infraMachine)
	w.truth = fake.NewClientBuilder().WithScheme(capmox.Scheme()).WithObjects(objects...).
		WithStatusSubresource(infraCluster, infraMachine, &clusterv1.Cluster{}, &clusterv1.Machine{}, &ipamv1.IPAddressClaim{}).
		WithInterceptorFuncs(interceptor.Funcs{Get: w.get, SubResourcePatch: w.patchStatus}).
		Build()
	w.client = w.truth
	sessions := &session.Sessions{Client: w.client, Clock: w.clock}
	w.machines = &machine.Reconciler{Client: w.client, Sessions: sessions, Clock: w.clock}
	w.clusters = &cluster.Reconciler{Client: w.client, Sessions: sessions}
	return w
}

// connect gives all clusters one set of credentials, as PROXMOX_URL and so on do.
func (w *world) connect(url, secret string, ca []byte) {
	w.t.Helper()
	roots, err := session.Roots(ca)
	if err != nil {
		w.t.Fatal(err)
	}
	global, err := calls.Connect(context.Background(), calls.Credentials{URL: url, Token: token, Secret: secret, Roots: roots}, 1, w.clock)
	if err != nil {
		w.t.Fatal(err)
	}
	w.machines.Sessions.Global = global
}

func (w *world) coreObjects() []client.Object {
	labels := map[string]string{clusterv1.ClusterNameLabel: "shop", clusterv1.MachineControlPlaneLabel: ""}
	return []client.Object{
		&clusterv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop", UID: "cluster"},
			Spec:       clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: infrav1.ProxmoxClusterKind, Name: "shop"}},
			Status:     clusterv1.ClusterStatus{Initialization: clusterv1.ClusterInitializationStatus{InfrastructureProvisioned: ptr.To(true)}},
		},
		&clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: w.name, UID: "machine", Labels: labels},
			Spec:       clusterv1.MachineSpec{ClusterName: "shop", Version: "v1.36.3", Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To("bootstrap")}},
		},
		&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bootstrap"},
			Data:       map[string][]byte{"value": []byte("## template: jinja\n#cloud-config\n"), "format": []byte("cloud-config")},
		},
	}
}

func (w *world) infraObjects() (*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine) {
	labels := map[string]string{clusterv1.ClusterNameLabel: "shop", clusterv1.MachineControlPlaneLabel: ""}
	return &infrav1.ProxmoxCluster{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: "shop", UID: "infra-cluster", Labels: labels,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "shop", UID: "cluster"}},
			},
			Spec: infrav1.ProxmoxClusterSpec{
				ControlPlaneEndpoint: infrav1.APIEndpoint{Host: "10.99.0.200", Port: 6443},
				IPv4Config:           &infrav1.IPConfigSpec{Addresses: []string{"10.99.0.210-10.99.0.219"}, Prefix: 24, Gateway: "10.99.0.1", Metric: ptr.To[int32](100)},
				DNSServers:           []string{"10.99.0.1"},
			},
		}, &infrav1.ProxmoxMachine{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: w.name, UID: "infra-machine", Labels: labels,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: w.name, UID: "machine"}},
			},
			Spec: infrav1.ProxmoxMachineSpec{
				VirtualMachineCloneSpec: infrav1.VirtualMachineCloneSpec{
					TemplateSource: infrav1.TemplateSource{TemplateSelector: &infrav1.TemplateSelector{
						MatchTags: []string{"kubehenge", "kubeadm-v1.36.3"}, MatchPolicy: infrav1.MatchUniqueSubset,
					}},
					Full: ptr.To(true), Pool: ptr.To("kubehenge/team-a.shop"), Storage: ptr.To("shared"),
				},
				NumSockets: ptr.To[int32](1), NumCores: ptr.To[int32](1), MemoryMiB: ptr.To[int32](256),
				Disks:     &infrav1.Storage{BootVolume: &infrav1.DiskSize{Disk: "scsi0", SizeGB: 5}},
				VMIDRange: &infrav1.VMIDRange{Start: 2000, End: 2099},
				Tags:      []string{"kubehenge", "team-a.shop"},
				Network: &infrav1.NetworkSpec{NetworkDevices: []infrav1.NetworkDevice{
					{Name: "net0", Bridge: ptr.To("vmbr0"), Model: ptr.To("virtio"), DefaultIPv4: ptr.To(true), DefaultIPv6: ptr.To(true)},
				}},
			},
		}
}

// get lets a read of the ProxmoxMachine miss the last write of its status when asked to: conditions, metadata and spec
// are written first and arrive first.
func (w *world) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if err := c.Get(ctx, key, object, opts...); err != nil {
		return err
	}
	m, ok := object.(*infrav1.ProxmoxMachine)
	if !ok || !w.lag {
		return nil
	}
	w.lag = false
	old := infrav1.ProxmoxMachineStatus{}
	if n := len(w.statuses); n > 1 {
		old = w.statuses[n-2]
	}
	old.Conditions = m.Status.Conditions
	m.Status = *old.DeepCopy()
	return nil
}

// patchStatus remembers what the ProxmoxMachine's status was after each write.
func (w *world) patchStatus(ctx context.Context, c client.Client, subresource string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := c.SubResource(subresource).Patch(ctx, object, patch, opts...); err != nil {
		return err
	}
	if object.GetName() != w.name {
		return nil
	}
	m := &infrav1.ProxmoxMachine{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), m); err != nil {
		return client.IgnoreNotFound(err)
	}
	m.Status.Conditions = nil
	last := infrav1.ProxmoxMachineStatus{}
	if n := len(w.statuses); n > 0 {
		last = w.statuses[n-1]
	}
	if fmt.Sprintf("%+v", ptr.Deref(last.TaskRef, "")) != ptr.Deref(m.Status.TaskRef, "") {
		w.statuses = append(w.statuses, m.Status)
	}
	return nil
}

func (w *world) key() client.ObjectKey {
	return types.NamespacedName{Namespace: namespace, Name: w.name}
}

// Steps of scenarios.

// step is something that happens.
type step func(w *world)

// machines runs the machine controller n times, in-cluster IPAM in between.
func looks(n int) step {
	return func(w *world) {
		for range n {
			result, err := w.machines.Reconcile(context.Background(), ctrl.Request{NamespacedName: w.key()})
			w.err, w.requeue = err, result.RequeueAfter
		}
	}
}

// lagging runs the machine controller once with a cache that lacks the last status.
func lagging(w *world) {
	w.lag = true
	looks(1)(w)
}

// clusterLooks runs the cluster controller n times.
func clusterLooks(n int) step {
	return func(w *world) {
		for range n {
			_, w.err = w.clusters.Reconcile(context.Background(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "shop"}})
		}
	}
}

// assign is the in-cluster IPAM provider: it fills the machine's claim.
func assign(address string) step {
	return func(w *world) {
		w.t.Helper()
		ctx := context.Background()
		claim := &ipamv1.IPAddressClaim{}
		if err := w.truth.Get(ctx, client.ObjectKey{Namespace: namespace, Name: w.name + "-net0-00-inet"}, claim); err != nil {
			w.t.Fatal(err)
		}
		given := &ipamv1.IPAddress{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: claim.Name},
			Spec: ipamv1.IPAddressSpec{
				ClaimRef: ipamv1.IPAddressClaimReference{Name: claim.Name}, PoolRef: claim.Spec.PoolRef,
				Address: address, Prefix: ptr.To[int32](24), Gateway: "10.99.0.1",
			},
		}
		if err := w.truth.Create(ctx, given); err != nil {
			w.t.Fatal(err)
		}
		claim.Status.AddressRef = ipamv1.IPAddressReference{Name: given.Name}
		if err := w.truth.Status().Update(ctx, claim); err != nil {
			w.t.Fatal(err)
		}
	}
}

// available makes the Machine available, with its Node.
func available(w *world) {
	w.t.Helper()
	m := &clusterv1.Machine{}
	if err := w.truth.Get(context.Background(), w.key(), m); err != nil {
		w.t.Fatal(err)
	}
	m.Status.NodeRef = clusterv1.MachineNodeReference{Name: w.name}
	conditions.Set(m, metav1.Condition{Type: clusterv1.AvailableCondition, Status: metav1.ConditionTrue, Reason: clusterv1.AvailableReason})
	if err := w.truth.Status().Update(context.Background(), m); err != nil {
		w.t.Fatal(err)
	}
}

// deleted asks for the ProxmoxMachine's deletion.
func deleted(w *world) {
	w.t.Helper()
	if err := w.truth.Delete(context.Background(), w.infraMachine()); err != nil {
		w.t.Fatal(err)
	}
}

// allow changes the cluster's allowed nodes.
func allow(nodes ...string) step {
	return func(w *world) {
		w.t.Helper()
		c := w.infraCluster()
		c.Spec.AllowedNodes = nodes
		if err := w.truth.Update(context.Background(), c); err != nil {
			w.t.Fatal(err)
		}
	}
}

// in expects a state, the reason of the machine's condition.
func in(reason string) step {
	return func(w *world) {
		w.t.Helper()
		if got := conditions.GetReason(w.infraMachine(), infrav1.VirtualMachineProvisionedCondition); got != reason {
			w.t.Errorf("state is %s, want %s (last error: %v)", got, reason, w.err)
		}
	}
}

func (w *world) infraMachine() *infrav1.ProxmoxMachine {
	w.t.Helper()
	m := &infrav1.ProxmoxMachine{}
	if err := w.truth.Get(context.Background(), w.key(), m); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) infraCluster() *infrav1.ProxmoxCluster {
	w.t.Helper()
	c := &infrav1.ProxmoxCluster{}
	if err := w.truth.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: "shop"}, c); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// gone expects the ProxmoxMachine to have been let go.
func gone(w *world) {
	w.t.Helper()
	err := w.truth.Get(context.Background(), w.key(), &infrav1.ProxmoxMachine{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		w.t.Errorf("ProxmoxMachine is still there: %v", err)
	}
}

func (w *world) run(steps ...step) {
	w.t.Helper()
	for _, s := range steps {
		s(w)
	}
}

func (w *world) create(object client.Object) {
	w.t.Helper()
	if err := w.truth.Create(context.Background(), object); err != nil {
		w.t.Fatal(err)
	}
}
