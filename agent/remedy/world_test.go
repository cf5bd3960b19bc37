package remedy

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/machines/machinestest"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

var shop = machinestest.Key("team-a", "shop")

// world is a management cluster, a list of guests, and a patrol that can be killed.
type world struct {
	*machinestest.World
	t      *testing.T
	clock  *testclock.FakeClock
	guests map[int]proxmox.Machine
	silent error // what Proxmox VE answers instead of a list
	nodes  []proxmox.Node
	hidden map[int]bool // VMs that no list shows
	asked  int          // how often was asked whether a VMID is taken
	board  *status.Board
	events []string
	patrol *Patrol
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: machinestest.New(t), t: t, clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC)), guests: map[int]proxmox.Machine{}, hidden: map[int]bool{}, nodes: []proxmox.Node{{Name: "pve1", Online: true}}}
	w.guests[9000] = proxmox.Machine{Type: "qemu", VMID: 9000, Template: true}
	w.Claim(shop, nil)
	w.start()
	return w
}

// start is a fresh patrol: it knows only what is live.
func (w *world) start() {
	w.board = status.NewBoard(func(...types.NamespacedName) {})
	w.patrol = &Patrol{Client: w.Client, Direct: w.Client, Lists: w, Taken: w.Taken, Fleet: fleet, Board: w.board, Events: w, Clock: w.clock}
}

// Machines is Proxmox VE's list.
func (w *world) Machines(context.Context) ([]proxmox.Machine, error) {
	var list []proxmox.Machine
	for _, g := range w.guests {
		list = append(list, g)
	}
	return list, w.silent
}

// Nodes is Proxmox VE's list.
func (w *world) Nodes(context.Context) ([]proxmox.Node, error) { return w.nodes, w.silent }

// Taken is Proxmox VE's word on a VMID.
func (w *world) Taken(_ context.Context, vmid int) (bool, error) {
	w.asked++
	_, listed := w.guests[vmid]
	return listed || w.hidden[vmid], w.silent
}

func fleet() *v1alpha1.Fleet {
	f := &v1alpha1.Fleet{}
	f.Spec.Proxmox.WorkloadPool = "kubehenge"
	return f
}

// Eventf keeps an event.
func (w *world) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	w.events = append(w.events, reason+": "+fmt.Sprintf(note, args...))
}

// put makes a machine of shop whose VM is listed with a status; empty for a VM that Proxmox VE does not show.
func (w *world) put(m machinestest.Machine, listed string) {
	w.t.Helper()
	m.Cluster = shop
	if m.Created.IsZero() {
		m.Created = w.clock.Now()
	}
	w.Put(m)
	delete(w.guests, m.VMID)
	if listed != "" {
		w.guests[m.VMID] = proxmox.Machine{Type: "qemu", VMID: m.VMID, Name: m.Name, Node: "pve1", Status: listed}
	}
}

// pass makes rounds every quarter of a minute for that long.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.round()
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); {
		w.clock.Step(Every)
		w.round()
	}
}

func (w *world) round() {
	w.t.Helper()
	if err := w.patrol.Round(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) marked(name string) bool {
	w.t.Helper()
	m := w.Live(machinestest.Key(shop.Namespace, name))
	if m == nil {
		return false
	}
	_, there := m.Annotations[clusterv1.RemediateMachineAnnotation]
	return there
}

// sentence is what the claim says; empty for nothing.
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

// key is a machine's of shop.
func (w *world) key(name string) types.NamespacedName { return machinestest.Key(shop.Namespace, name) }

// deaf is a list that is answered while nothing else is.
type deaf struct{ *world }

// Machines is Proxmox VE's list.
func (d deaf) Machines(context.Context) ([]proxmox.Machine, error) {
	return []proxmox.Machine{{Type: "qemu", VMID: 9000, Template: true}}, nil
}
