package corner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

// errCrash is the agent dying between two steps.
var errCrash = errors.New("crashed")

// world is a simulated Proxmox VE, a management cluster with one claim and its Cluster, and an agent with its own
// least-privileged token, which can be killed and started anew.
type world struct {
	t      *testing.T
	pve    *simulator.Server
	root   *proxmox.Client
	client client.WithWatch
	clock  *testclock.FakeClock
	fleet  *v1alpha1.Fleet
	key    types.NamespacedName
	refuse func(o client.Object) error // the API server's answer to a write

	keeper *Keeper
	lists  *proxmox.Cache
	events *eventLog
}

var shop = types.NamespacedName{Namespace: "team-a", Name: "shop"}

const (
	shopPool = "kubehenge/team-a.shop"
	shopUser = "kh-team-a.shop@pve"
	ownerID  = 20099
)

func newWorld(t *testing.T, change ...func(*simulator.Options)) *world {
	t.Helper()
	w := &world{t: t, pve: simulator.Start(t, change...), clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)), key: shop}
	w.fleet = &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{
		Proxmox:  v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge", VMIDs: v1alpha1.IDRange{Start: 20000, End: 29999}},
		Networks: []v1alpha1.Network{{Name: "lan", Nodes: []string{"10.0.41.1-10.0.43.250"}}},
	}}
	w.client = w.server("6f1c0c1e-0000-4000-8000-000000000001")
	w.root = w.administrator()
	w.start()
	w.claimed()
	return w
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	m.Run()
}

func testScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme, clusterv1.AddToScheme, addonsv1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}

// server is the management cluster's API server; uid is of the namespace that identifies it.
func (w *world) server(uid types.UID) client.WithWatch {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.SystemNamespace, UID: uid}}
	return fake.NewClientBuilder().WithScheme(testScheme()).WithReturnManagedFields().WithObjects(ns).
		WithStatusSubresource(&v1alpha1.ClusterClaim{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
				if u, ok := o.(client.Object); ok && w.refuse != nil {
					if err := w.refuse(u); err != nil {
						return err
					}
				}
				return c.Apply(ctx, o, opts...)
			},
		}).Build()
}

// administrator may do everything in Proxmox VE, as a person at its web interface.
func (w *world) administrator() *proxmox.Client {
	w.t.Helper()
	c, err := proxmox.SignIn(w.t.Context(), proxmox.Options{URL: w.pve.URL(), CA: w.pve.CA()}, proxmox.Credentials{User: "root@pam", Password: "kubehenge"})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// start starts the agent, which remembers nothing.
func (w *world) start() {
	w.t.Helper()
	secret, ok := w.pve.TokenSecret(access.AgentToken)
	if !ok {
		w.t.Fatal("the simulator has no token for the agent")
	}
	c, err := proxmox.Connect(proxmox.Options{URL: w.pve.URL(), CA: w.pve.CA(), TokenID: access.AgentToken, Secret: secret, Clock: instant{}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.lists = c.Cached(0, w.clock)
	w.events = &eventLog{}
	w.keeper = New(w.lists)
	w.keeper.Proxmox = Proxmox{Accounts: c.Accounts(), Changes: c.Changes(), Pools: c.Pools(), Members: c.Memberships(), Tasks: c.Tasks(), Taken: c.Machines().Taken}
	w.keeper.Board = status.NewBoard(func(...types.NamespacedName) {})
	w.keeper.Client, w.keeper.Direct, w.keeper.Clock, w.keeper.Events = w.client, w.client, w.clock, w.events
	w.keeper.Settings = Settings{URL: w.pve.URL(), CA: w.pve.CA(), MaxAge: 90 * 24 * time.Hour, Grace: 5 * time.Minute}
}

// claimed is what the agent does before the corner: claim, allocation, Cluster.
func (w *world) claimed() {
	w.t.Helper()
	given, err := w.allocator().Ensure(w.t.Context(), w.allocationRequest())
	if err != nil {
		w.t.Fatal(err)
	}
	claim := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: w.key.Namespace, Name: w.key.Name}}
	w.create(claim)
	claim.Status.Allocation = given
	if err := w.client.Status().Update(w.t.Context(), claim); err != nil {
		w.t.Fatal(err)
	}
	w.clustered()
}

func (w *world) allocationRequest() allocation.Request {
	return allocation.Request{Namespace: w.key.Namespace, Name: w.key.Name, Network: "lan", Nodes: 6, Fleet: w.fleet}
}

func (w *world) clustered() {
	w.create(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.key.Namespace, Name: w.key.Name, UID: "6f1c0c1e-0000-4000-8000-000000000002", Labels: map[string]string{v1alpha1.ClaimLabel: w.key.Name},
	}})
}

func (w *world) allocator() *allocation.Allocator {
	return allocation.New(w.keeper.Proxmox.Pools, w.lists)
}

func (w *world) create(o client.Object) {
	w.t.Helper()
	if err := w.client.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) request() Request {
	w.t.Helper()
	r := Request{Claim: &v1alpha1.ClusterClaim{}, Cluster: &clusterv1.Cluster{}, Fleet: w.fleet}
	if err := w.client.Get(w.t.Context(), w.key, r.Claim); err != nil {
		w.t.Fatal(err)
	}
	if err := w.client.Get(w.t.Context(), w.key, r.Cluster); err != nil {
		r.Cluster = nil
	}
	return r
}

// ensure is one run of the agent, with lists that are not older than the run before.
func (w *world) ensure() error {
	w.t.Helper()
	w.clock.Step(proxmox.DefaultAge)
	if err := w.keeper.RestorePool(w.t.Context(), w.request()); err != nil {
		return err
	}
	return w.keeper.Ensure(w.t.Context(), w.request())
}

func (w *world) mustEnsure() {
	w.t.Helper()
	if err := w.ensure(); err != nil {
		w.t.Fatal(err)
	}
}

// remove is what the agent does once the Cluster is gone.
func (w *world) remove() error {
	w.t.Helper()
	w.clock.Step(proxmox.DefaultAge)
	if err := w.keeper.Remove(w.t.Context(), w.request()); err != nil {
		return err
	}
	return w.allocator().Release(w.t.Context(), w.fleet, w.key.Namespace, w.key.Name)
}

func (w *world) deleteCluster() {
	w.t.Helper()
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.key.Namespace, Name: w.key.Name}}
	if err := w.client.Delete(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

// deliver does what Cluster API does with the ClusterResourceSet once the cluster's API answers.
func (w *world) deliver() {
	w.t.Helper()
	secret := w.secret()
	binding := &addonsv1.ClusterResourceSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: w.key.Namespace, Name: w.key.Name}}
	err := w.client.Get(w.t.Context(), w.key, binding)
	binding.Spec = addonsv1.ClusterResourceSetBindingSpec{ClusterName: w.key.Name, Bindings: []addonsv1.ResourceSetBinding{{
		ClusterResourceSetName: SecretName(w.key.Name),
		Resources: []addonsv1.ResourceBinding{{
			ResourceRef: addonsv1.ResourceRef{Kind: "Secret", Name: SecretName(w.key.Name)},
			Hash:        hashOf(secret.Data), Applied: ptr.To(true), LastAppliedTime: metav1.NewTime(w.clock.Now()),
		}},
	}}}
	if err != nil {
		w.create(binding)
	} else if err := w.client.Update(w.t.Context(), binding); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) secret() *corev1.Secret {
	w.t.Helper()
	s := &corev1.Secret{}
	if err := w.client.Get(w.t.Context(), types.NamespacedName{Namespace: w.key.Namespace, Name: SecretName(w.key.Name)}, s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// credentials are what the cluster was, or would be, given.
func (w *world) credentials() Credentials {
	w.t.Helper()
	c, err := ReadCredentials(w.secret())
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// cluster is Proxmox VE as the cluster's token sees it.
func (w *world) cluster(c Credentials) *proxmox.Client {
	w.t.Helper()
	p, err := proxmox.Connect(proxmox.Options{URL: w.pve.URL(), CA: w.pve.CA(), TokenID: c.TokenID, Secret: c.Secret})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// works says why the credentials are not worth what a cluster needs: to see its own VMs, and change their disks.
func (w *world) works(c Credentials) error {
	p := w.cluster(c)
	privileges, err := p.Accounts().Permissions(w.t.Context(), "/pool/"+v1alpha1.ClusterPool("kubehenge", w.key.Namespace, w.key.Name))
	if err != nil {
		return err
	}
	shared, err := p.Accounts().Permissions(w.t.Context(), "/storage/shared")
	if err != nil {
		return err
	}
	if !slices.Contains(privileges, "VM.Config.Disk") || !slices.Contains(privileges, "VM.Audit") || !slices.Contains(shared, "Datastore.AllocateSpace") {
		return fmt.Errorf("privileges on the pool: %v, on the storage: %v", privileges, shared)
	}
	return nil
}

// audit says what of the corner is wrong, as an administrator sees it.
func (w *world) audit() []string {
	w.t.Helper()
	var wrong []string
	note := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	snapshot := w.pve.Snapshot()
	if i := slices.IndexFunc(snapshot.Pools, func(p simulator.Pool) bool { return p.ID == shopPool }); i < 0 {
		note("no pool")
	} else if !slices.Contains(snapshot.Pools[i].VMs, ownerID) || !strings.Contains(snapshot.Pools[i].Comment, "VMIDs 20000-20099") {
		note("pool %+v", snapshot.Pools[i])
	}
	if vm := snapshot.VM(ownerID); vm == nil {
		note("no owner VM")
	} else if vm.Name != "shop-volumes" || vm.Status != "stopped" || !slices.Equal(vm.Tags, []string{"kubehenge", "kubehenge-volumes", "team-a.shop"}) || vm.Config["memory"] != "16" {
		note("owner VM %+v", *vm)
	}
	if u := w.user(); u == nil {
		note("no user")
	} else if !u.Enabled || !u.Expire.IsZero() || !slices.Equal(u.Groups, []string{"kubehenge-clusters"}) || len(u.Tokens) != 1 {
		note("user %+v", *u)
	}
	if err := w.works(w.credentials()); err != nil {
		note("the token does not work: %v", err)
	}
	if c := w.request().Cluster; c == nil || c.Annotations[v1alpha1.CornerAnnotation] != v1alpha1.CornerReady {
		note("the Cluster does not say that it is ready")
	}
	return wrong
}

func (w *world) user() *proxmox.User {
	w.t.Helper()
	users, err := w.root.Accounts().Users(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range users {
		if u.ID == shopUser {
			return &u
		}
	}
	return nil
}

// left is what Proxmox VE and the management cluster still hold of the corner.
func (w *world) left() []string {
	w.t.Helper()
	var left []string
	for _, p := range w.pve.Snapshot().Pools {
		if strings.HasPrefix(p.ID, "kubehenge/") {
			left = append(left, "pool "+p.ID)
		}
	}
	for _, vm := range w.pve.Snapshot().VMs {
		if !vm.Template {
			left = append(left, fmt.Sprint("VM ", vm.VMID))
		}
	}
	if w.user() != nil {
		left = append(left, "user")
	}
	grants, err := w.root.Accounts().Grants(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, g := range grants {
		if strings.Contains(g.Path+g.To, "team-a.shop") {
			left = append(left, g.String())
		}
	}
	var secrets corev1.SecretList
	var sets addonsv1.ClusterResourceSetList
	if err := errors.Join(w.client.List(w.t.Context(), &secrets), w.client.List(w.t.Context(), &sets)); err != nil {
		w.t.Fatal(err)
	}
	if n := len(secrets.Items) + len(sets.Items); n > 0 {
		left = append(left, fmt.Sprint(n, " objects"))
	}
	return left
}
