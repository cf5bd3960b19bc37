package placement

import (
	"context"
	"errors"
	"fmt"
	gosync "sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/proxmox"
)

// Source shows nodes and guests in one call; *proxmox.Client is one.
type Source interface {
	Resources(ctx context.Context) (proxmox.Resources, error)
}

// How often Proxmox VE is looked at, in one call for all clusters.
const (
	// quietInterval while no cluster is about to place machines, busyInterval while one is.
	quietInterval = 15 * time.Second
	busyInterval  = 5 * time.Second
	// restLook is the least between two looks when a cluster that begins to place machines asks for a fresh one.
	restLook = 2 * time.Second
	// stale is how old a look may be to decide anything by.
	stale = time.Minute
)

// Placement looks at Proxmox VE and keeps the annotations of Clusters. Its loop and its controller work on the leader.
type Placement struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Source is Proxmox VE as the agent's token sees it.
	Source Source
	// Store is the desired state, for what classes call their templates.
	Store *sync.Store
	// Board is where sentences for claims go.
	Board *status.Board
	// Clock is the time.
	Clock clock.WithTicker
	// Enqueue has clusters decided anew; Setup sets it.
	Enqueue func(...types.NamespacedName)

	history history
	current atomic.Pointer[look]
	kick    chan struct{}

	mu gosync.Mutex
	// crowded and busy are clusters whose last decision found no node with room, and those about to place machines.
	crowded, busy map[types.NamespacedName]bool
}

// Prepare makes it ready; call it once.
func (p *Placement) Prepare() {
	p.history, p.kick = history{}, make(chan struct{}, 1)
	p.crowded, p.busy = map[types.NamespacedName]bool{}, map[types.NamespacedName]bool{}
}

// NeedLeaderElection keeps the looks to the leader.
func (*Placement) NeedLeaderElection() bool { return true }

// Start looks until the context ends.
func (p *Placement) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithName("placement"))
	said := ""
	for {
		if err := p.look(ctx); err != nil && err.Error() != said {
			log.FromContext(ctx).Error(err, "Cannot see Proxmox VE's nodes; what is listed stays")
			said = err.Error()
		} else if err == nil {
			said = ""
		}
		if !p.rest(ctx) {
			return nil
		}
	}
}

// rest waits until the next look is due; false when the context has ended.
func (p *Placement) rest(ctx context.Context) bool {
	begun := p.Clock.Now()
	timer := p.Clock.NewTimer(p.interval())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	case <-p.kick:
	}
	select {
	case <-ctx.Done():
		return false
	case <-p.Clock.After(restLook - p.Clock.Since(begun)):
		return true
	}
}

func (p *Placement) interval() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.busy) > 0 {
		return busyInterval
	}
	return quietInterval
}

// look looks at Proxmox VE once, and has clusters decided anew where something that lists depend on has changed.
func (p *Placement) look(ctx context.Context) error {
	before := p.current.Load()
	r, err := p.Source.Resources(ctx)
	if err == nil && len(r.Nodes) == 0 {
		err = errors.New("Proxmox VE names no node")
	}
	now := p.Clock.Now()
	if err != nil {
		if before == nil || now.Sub(before.at) > stale {
			return errors.Join(err, p.wakeAll(ctx)) // to tell those that wait for it
		}
		return err
	}
	next := newLook(r, p.history, now)
	p.current.Store(next)
	if err := p.noteTemplates(ctx, next); err != nil {
		return err
	}
	if next.same(before) && now.Sub(before.at) <= stale {
		return nil
	}
	return p.wakeAll(ctx)
}

func (p *Placement) wakeAll(ctx context.Context) error {
	var clusters clusterv1.ClusterList
	if err := p.Client.List(ctx, &clusters, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list clusters: %w", err)
	}
	var keys []types.NamespacedName
	for i := range clusters.Items {
		if ours(&clusters.Items[i]) {
			keys = append(keys, client.ObjectKeyFromObject(&clusters.Items[i]))
		}
	}
	if p.Enqueue != nil {
		p.Enqueue(keys...)
	}
	return nil
}

// lookNow asks for a look before the next is due.
func (p *Placement) lookNow() {
	select {
	case p.kick <- struct{}{}:
	default: // it is asked for already
	}
}
