package orphans

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

var shop = machinestest.Key("team-a", "shop")

// world is a management cluster, and a simulated Proxmox VE with five VMs in the pool of shop: 20001 belongs to the
// machine cp-1, 20099 owns the volumes, 20013 and 20014 belong to nobody, 20014 runs in HA. 100 is somebody else's.
type world struct {
	*machinestest.World
	t         *testing.T
	pve       *simulator.Server
	agent     *proxmox.Client
	ha        proxmox.HA
	clock     *testclock.FakeClock
	board     *status.Board
	events    []string
	watch     *Watch
	collector *Collector
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: machinestest.New(t), t: t, clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC))}
	inventory, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	const pool = "kubehenge/team-a.shop"
	inventory.Pools = append(inventory.Pools, simulator.PoolSpec{ID: pool})
	for _, g := range []simulator.GuestSpec{
		{VMID: 20001, Node: "pve1", Pool: pool, Running: true, Config: map[string]string{"name": "cp-1"}},
		{VMID: 20013, Node: "pve2", Pool: pool, Config: map[string]string{"name": "left", "tags": "kubehenge;team-a.shop"}},
		{VMID: 20014, Node: "pve3", Pool: pool, Running: true, Config: map[string]string{"name": "runs"}},
		{VMID: 20099, Node: "pve1", Pool: pool, Config: map[string]string{"name": "shop-volumes", "tags": "kubehenge-volumes"}},
		{VMID: 100, Node: "pve1", Running: true, Config: map[string]string{"name": "mail"}},
	} {
		inventory.Guests = append(inventory.Guests, g)
	}
	inventory.HA.Resources = []simulator.HAResourceSpec{{ID: "vm:20014"}}
	w.pve = simulator.Start(t, func(o *simulator.Options) { o.Inventory = inventory })
	w.agent = w.connect(access.AgentToken)
	w.ha = w.connect(access.HAToken).HA()
	w.Claim(shop, func(c *v1alpha1.ClusterClaim) {
		c.Status.Allocation = &v1alpha1.Allocation{VMIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
	})
	w.Cluster(shop, nil)
	w.Put(machinestest.Machine{Cluster: shop, Name: "cp-1", ControlPlane: true, Joined: true, VMID: 20001, Node: "pve1"})
	w.start()
	return w
}

func (w *world) connect(token string) *proxmox.Client {
	w.t.Helper()
	secret, ok := w.pve.TokenSecret(token)
	if !ok {
		w.t.Fatalf("the simulator has no token %s", token)
	}
	c, err := proxmox.Connect(proxmox.Options{URL: w.pve.URL(), CA: w.pve.CA(), TokenID: token, Secret: secret})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// start is a fresh agent: it knows only what is live.
func (w *world) start() {
	w.board = status.NewBoard(func(...types.NamespacedName) {})
	fleet := func() *v1alpha1.Fleet {
		return &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{Proxmox: v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge"}}}
	}
	w.watch = &Watch{Client: w.Client, Fleet: fleet, Guests: w, Board: w.board, Events: w, Clock: w.clock}
	w.collector = &Collector{Client: w.Client, Direct: w.Client, Fleet: fleet, Events: w,
		Proxmox: Proxmox{Machines: w.agent.Machines(), Changes: w.agent.Changes(), Tasks: w.agent.Tasks(), HA: w.ha}}
}

// Machines is Proxmox VE's list.
func (w *world) Machines(ctx context.Context) ([]proxmox.Machine, error) {
	return w.agent.Machines().List(ctx)
}

// Eventf keeps an event.
func (w *world) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	w.events = append(w.events, reason+": "+fmt.Sprintf(note, args...))
}

// pass looks every half a minute for that long.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	for end := w.clock.Now().Add(d); ; w.clock.Step(Every) {
		if err := w.watch.Look(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		if !w.clock.Now().Before(end) {
			return
		}
	}
}

// listed are the VMIDs that the claim lists.
func (w *world) listed() []int {
	w.t.Helper()
	var ids []int
	for _, o := range Of(w.LiveClaim(shop)) {
		ids = append(ids, o.VMID)
	}
	return ids
}

// ask sets the annotation that gc sets.
func (w *world) ask(value string) {
	w.t.Helper()
	c := w.LiveClaim(shop)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[v1alpha1.CollectAnnotation] = value
	if err := w.Client.Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}

// collect lets the agent work on the claim once.
func (w *world) collect() error {
	_, err := w.collector.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: shop})
	return err
}

// vms are the VMIDs that Proxmox VE has, the templates aside.
func (w *world) vms() []int {
	var ids []int
	for _, vm := range w.pve.Snapshot().VMs {
		if !vm.Template {
			ids = append(ids, vm.VMID)
		}
	}
	return ids
}

func (w *world) wantVMs(want ...int) {
	w.t.Helper()
	if got := w.vms(); !slices.Equal(got, want) {
		w.t.Errorf("Proxmox VE has VMs %v, want %v", got, want)
	}
}

func (w *world) wantEvent(want string) {
	w.t.Helper()
	if !slices.Contains(w.events, want) {
		w.t.Errorf("events %q, want among them %q", w.events, want)
	}
}
