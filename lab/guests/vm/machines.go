package vm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"k8s.io/utils/clock"

	"kubehenge.dev/lab/guests/kubeadm"
)

// ErrAgentNotRunning is what Agent returns while nothing answers in the machine.
var ErrAgentNotRunning = errors.New("guest agent is not running")

// Options set machines up.
type Options struct {
	Clusters kubeadm.Clusters
	Clock    clock.WithDelayedExecution // default: the real time
	Times    Times
	Log      *slog.Logger
}

// Machines are the machines of a hypervisor, by VMID. All methods may be called at once from everywhere.
type Machines struct {
	ctx     context.Context
	end     context.CancelFunc
	options Options
	kubeadm *kubeadm.Kubeadm
	boots   sync.WaitGroup

	mu   sync.Mutex
	byID map[int]*machine
}

// New returns machines that live until Close.
func New(o Options) *Machines {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	ctx, end := context.WithCancel(context.Background())
	return &Machines{
		ctx: ctx, end: end, options: o, byID: map[int]*machine{},
		kubeadm: &kubeadm.Kubeadm{
			Clusters: o.Clusters, Clock: o.Clock,
			DiscoveryTimeout: o.Times.DiscoveryTimeout, RetryEvery: o.Times.DiscoveryRetry,
		},
	}
}

// Close switches every machine off without a trace in the clusters, and waits for what still runs in them.
func (m *Machines) Close() {
	m.end()
	m.boots.Wait()
}

// Start switches a machine on and returns at once; one that runs goes on. A machine that does not boot is no error.
func (m *Machines) Start(ctx context.Context, g Guest) error {
	vm, err := m.adopt(ctx, g)
	if err != nil {
		return err
	}
	vm.turn.Lock()
	defer vm.turn.Unlock()
	vm.mu.Lock()
	defer vm.mu.Unlock()
	if vm.power != nil || vm.gone || m.ctx.Err() != nil {
		return nil
	}
	boot, powerOff := context.WithCancel(m.ctx)
	vm.guest, vm.power, vm.ended, vm.reason = g, powerOff, make(chan struct{}), ""
	m.boots.Add(1)
	go func(ended chan struct{}) {
		defer m.boots.Done()
		defer close(ended)
		m.boot(boot, vm)
	}(vm.ended)
	return nil
}

// adopt finds the machine of a guest, or makes one. A VMID that came back with another UUID is another machine.
func (m *Machines) adopt(ctx context.Context, g Guest) (*machine, error) {
	if g.VMID <= 0 || g.UUID == "" {
		return nil, fmt.Errorf("start machine: vmid %d or uuid %q is missing", g.VMID, g.UUID)
	}
	m.mu.Lock()
	known := m.byID[g.VMID]
	m.mu.Unlock()
	if known != nil && known.uuid != g.UUID {
		if err := m.Destroy(ctx, known.guestCopy()); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID[g.VMID] == nil {
		m.byID[g.VMID] = &machine{uuid: g.UUID, guest: g}
	}
	return m.byID[g.VMID], nil
}

// find returns a guest's machine, or nil.
func (m *Machines) find(g Guest) *machine {
	m.mu.Lock()
	defer m.mu.Unlock()
	vm := m.byID[g.VMID]
	if vm == nil || g.UUID != "" && vm.uuid != g.UUID {
		return nil
	}
	return vm
}

// Stop switches a machine off; one that is off stays off.
func (m *Machines) Stop(ctx context.Context, g Guest) error {
	vm := m.find(g)
	if vm == nil {
		return nil
	}
	vm.turn.Lock()
	defer vm.turn.Unlock()
	joined := vm.switchOff()
	if joined.Cluster == nil {
		return nil
	}
	if err := joined.Cluster.Stopped(ctx, joined.Node); err != nil {
		return fmt.Errorf("stop machine %d: %w", g.VMID, err)
	}
	return nil
}

// Destroy switches a machine off and forgets it.
func (m *Machines) Destroy(ctx context.Context, g Guest) error {
	vm := m.find(g)
	if vm == nil {
		return nil
	}
	vm.turn.Lock()
	defer vm.turn.Unlock()
	joined := vm.switchOff()
	vm.set(func() { vm.gone = true })
	m.mu.Lock()
	if m.byID[g.VMID] == vm {
		delete(m.byID, g.VMID)
	}
	m.mu.Unlock()
	if joined.Cluster == nil {
		return nil
	}
	if err := joined.Cluster.Destroyed(ctx, joined.Node); err != nil {
		return fmt.Errorf("destroy machine %d: %w", g.VMID, err)
	}
	return nil
}
