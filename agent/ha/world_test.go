package ha

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator"
)

var shop = machinestest.Key("team-a", "shop")

// world is a management cluster, a simulated Proxmox VE that has its VMs, and a keeper that can be killed. The cluster
// shop has three control-plane machines, cp-1 to cp-3 with VMs 20001 to 20003 on pve1 to pve3, and the worker w-1 with
// VM 20004 on pve1.
type world struct {
	*machinestest.World
	t      *testing.T
	pve    *simulator.Server
	agent  *proxmox.Client // with the agent's token
	ha     proxmox.HA      // with the HA token; tests use it for what a person does, too
	clock  *testclock.FakeClock
	fleet  *v1alpha1.Fleet
	board  *status.Board
	events []string
	keeper *Keeper
}

func newWorld(t *testing.T, version string) *world {
	t.Helper()
	w := &world{World: machinestest.New(t), t: t, clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC))}
	inventory, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inventory.Pools = append(inventory.Pools, simulator.PoolSpec{ID: "kubehenge/team-a.shop"})
	for i := 1; i <= 4; i++ {
		inventory.Guests = append(inventory.Guests, simulator.GuestSpec{VMID: 20000 + i, Node: fmt.Sprintf("pve%d", (i-1)%3+1), Pool: "kubehenge/team-a.shop", Running: true,
			Config: map[string]string{"name": machineName(i), "scsi0": fmt.Sprintf("shared:%d/vm-%d-disk-0.qcow2,size=4G", 20000+i, 20000+i)}})
	}
	w.pve = simulator.Start(t, func(o *simulator.Options) { o.Inventory, o.Version = inventory, version })
	w.agent = w.connect(access.AgentToken)
	w.ha = w.connect(access.HAToken).HA()
	w.fleet = &v1alpha1.Fleet{Spec: v1alpha1.FleetSpec{Proxmox: v1alpha1.ProxmoxSettings{WorkloadPool: "kubehenge", Storages: []string{"shared", "local"}, HA: true}}}
	w.Claim(shop, nil)
	w.Cluster(shop, nil)
	for i := 1; i <= 4; i++ {
		w.machine(i, fmt.Sprintf("pve%d", (i-1)%3+1))
	}
	w.start()
	return w
}

func machineName(i int) string {
	if i == 4 {
		return "w-1"
	}
	return fmt.Sprintf("cp-%d", i)
}

// machine is a joined machine whose VM the provider has on record on a node.
func (w *world) machine(i int, node string) {
	w.t.Helper()
	w.Put(machinestest.Machine{Cluster: shop, Name: machineName(i), ControlPlane: i != 4, Created: w.clock.Now().Add(time.Duration(i) * time.Second),
		Joined: true, VMID: 20000 + i, Node: node, Provisioned: true, Addressed: true})
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

// start is a fresh keeper: it knows only what is live.
func (w *world) start() {
	w.board = status.NewBoard(func(...types.NamespacedName) {})
	w.keeper = &Keeper{Client: w.Client, Fleet: func() *v1alpha1.Fleet { return w.fleet }, Lists: w.agent.Cached(time.Nanosecond, w.clock),
		Fresh: w.agent.Machines().List, HA: w.ha, Board: w.board, Events: w, Clock: w.clock}
}

// Eventf keeps an event.
func (w *world) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	w.events = append(w.events, reason+": "+fmt.Sprintf(note, args...))
}

// round lets a second pass and makes a round.
func (w *world) round() {
	w.t.Helper()
	w.clock.Step(time.Second)
	if _, err := w.keeper.Round(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// settle makes rounds for half a minute.
func (w *world) settle() {
	w.t.Helper()
	for range 5 {
		w.clock.Step(5 * time.Second)
		w.round()
	}
}

// provider does what capmox does when a ProxmoxMachine changes: it records where the VM is.
func (w *world) provider() {
	w.t.Helper()
	for i := 1; i <= 4; i++ {
		vm := w.LiveVM(machinestest.Key("team-a", machineName(i)))
		if vm == nil || vm.GetAnnotations()[v1alpha1.ProxmoxNodeAnnotation] == "" {
			continue
		}
		if err := unstructured.SetNestedField(vm.Object, w.pve.Snapshot().VM(20000+i).Node, "status", "proxmoxNode"); err != nil {
			w.t.Fatal(err)
		}
		if err := w.Client.Update(w.t.Context(), vm); err != nil {
			w.t.Fatal(err)
		}
	}
}

// state is the HA manager's configuration on a few lines.
func (w *world) state() string {
	w.t.Helper()
	ctx := w.t.Context()
	resources, err := w.ha.Resources(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for _, r := range resources {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.ID, r.State, r.Group)))
	}
	rules, err := w.ha.Rules(ctx)
	if err != nil && !proxmox.Is(err, proxmox.Unsupported) {
		w.t.Fatal(err)
	}
	for _, r := range rules {
		line := fmt.Sprintf("%s %s", r.ID, strings.Join(r.Resources, ","))
		if r.Strict {
			line += " on " + strings.Join(r.Nodes, ",")
		}
		lines = append(lines, line)
	}
	groups, err := w.ha.Groups(ctx)
	if err != nil && !proxmox.Is(err, proxmox.Unsupported) {
		w.t.Fatal(err)
	}
	for _, g := range groups {
		lines = append(lines, fmt.Sprintf("%s on %s", g.ID, strings.Join(g.Nodes, ",")))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (w *world) wantState(lines ...string) {
	w.t.Helper()
	slices.Sort(lines)
	if got, want := w.state(), strings.Join(lines, "\n"); got != want {
		w.t.Errorf("the HA manager has\n%s\nand is to have\n%s", got, want)
	}
}

// hook is the hook's value on a machine; empty without it.
func (w *world) hook(i int) string {
	w.t.Helper()
	m := w.Live(machinestest.Key("team-a", machineName(i)))
	if m == nil {
		return ""
	}
	return m.Annotations[v1alpha1.HAHookAnnotation]
}

func (w *world) wantHooks(want ...string) {
	w.t.Helper()
	got := []string{w.hook(1), w.hook(2), w.hook(3), w.hook(4)}
	if !slices.Equal(got, want) {
		w.t.Errorf("hooks are %q, want %q", got, want)
	}
}

// delete asks for a machine's deletion, which Cluster API then holds for the hook.
func (w *world) delete(i int) {
	w.t.Helper()
	w.Delete(w.Live(machinestest.Key("team-a", machineName(i))))
}

// move moves a VM the way that a person does.
func (w *world) move(vmid int, to string) {
	w.t.Helper()
	task, err := w.agent.Changes().Migrate(w.t.Context(), vmid, to)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.agent.Tasks().Wait(w.t.Context(), task, nil); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) sentence() string {
	for _, n := range w.board.Notices(shop) {
		return n.Sentence
	}
	return ""
}

func (w *world) wantSentence(want string) {
	w.t.Helper()
	if got := w.sentence(); got != want {
		w.t.Errorf("the claim says %q, want %q", got, want)
	}
}

// wantOrder fails where a VM is in HA whose machine has no hook, or a rule has a VM that is not in HA.
func (w *world) wantOrder() {
	w.t.Helper()
	resources, err := w.ha.Resources(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	in := map[string]bool{}
	for _, r := range resources {
		in[r.ID] = true
	}
	for i := 1; i <= 4; i++ {
		if m := w.Live(machinestest.Key("team-a", machineName(i))); m != nil && in[sid(20000+i)] && w.hook(i) == "" {
			w.t.Errorf("%s is in HA without its hook", m.Name)
		}
	}
	rules, err := w.ha.Rules(context.WithoutCancel(w.t.Context()))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range rules {
		for _, id := range r.Resources {
			if !in[id] {
				w.t.Errorf("rule %s has %s, which is not in HA", r.ID, id)
			}
		}
	}
}

func (w *world) claim(change func(*v1alpha1.ClusterClaim)) {
	w.t.Helper()
	c := w.LiveClaim(shop)
	change(c)
	if err := w.Client.Update(w.t.Context(), c); err != nil {
		w.t.Fatal(err)
	}
}
