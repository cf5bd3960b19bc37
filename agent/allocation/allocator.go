package allocation

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Allocator gives out addresses and VMIDs. One process has one; it is safe for concurrent use. Two processes at once
// (a leader that does not know yet that it lost) do not give out the same either: each reads again after it wrote.
type Allocator struct {
	pools proxmox.Pools
	seen  *proxmox.Cache
	turn  chan struct{} // held by the one that writes

	mu      sync.Mutex
	waiting []*ticket       // for the write
	given   map[string]bool // pools whose allocation this process handed out
	leaving map[string]bool // pools that were asked once whether they are empty
	ledger  *ledger         // of the list it was read from
	source  []proxmox.Pool
}

// New is an Allocator that writes through pools, and reads pools and guests through the cache, which it tells of
// its writes.
func New(pools proxmox.Pools, seen *proxmox.Cache) *Allocator {
	return &Allocator{pools: pools, seen: seen, turn: make(chan struct{}, 1), given: map[string]bool{}, leaving: map[string]bool{}}
}

// Ensure is the cluster's allocation, which is in Proxmox VE when it returns. It costs no call while nothing changes
// and the cache is fresh. Its errors are *Error, whose message is for the claim's status, or Proxmox VE's.
func (a *Allocator) Ensure(ctx context.Context, r Request) (*v1alpha1.Allocation, error) {
	l, err := a.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the allocations: %w", err)
	}
	d, err := plan(l, r, a.inUse(r))
	if err != nil {
		return nil, err
	}
	if d.action == keep && r.ClusterExists {
		return a.give(r, d.block), nil
	}
	if err := a.heldByGuests(ctx, l, r); err != nil {
		return nil, err
	}
	if d.action == keep && a.inUse(r) {
		return a.give(r, d.block), nil
	}
	return a.write(ctx, r)
}

// apply is the one write. A pool is made together with its comment, so there is never a pool without its allocation.
func (a *Allocator) apply(ctx context.Context, pool string, d decision) error {
	defer a.seen.Forget()
	if d.action == comment {
		return a.pools.SetComment(ctx, pool, d.comment)
	}
	err := a.pools.Create(ctx, pool, d.comment)
	if proxmox.Is(err, proxmox.Exists) {
		return a.exists(ctx, pool)
	}
	return err
}

// exists is why a pool could not be made that was not in the list: it came since, perhaps by a call of ours whose
// answer was lost, or the token may not see it.
func (a *Allocator) exists(ctx context.Context, pool string) error {
	l, err := a.readAnew(ctx)
	if err != nil {
		return fmt.Errorf("read the allocations: %w", err)
	}
	if _, shown := l.entries[pool]; shown {
		return &Error{Kind: Contended, Pool: pool, Message: fmt.Sprintf("pool %s was made a moment ago: looking at it again", pool)}
	}
	return &Error{Kind: Changed, Pool: pool, Message: fmt.Sprintf(
		"pool %s exists, and Proxmox VE does not show it to the agent: give the agent's token Pool.Audit on /pool/%[1]s", pool)}
}

// inUse is true when machines may use the allocation: the Cluster exists, or may exist by now.
func (a *Allocator) inUse(r Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return r.ClusterExists || a.given[r.pool()]
}

func (a *Allocator) give(r Request, b block) *v1alpha1.Allocation {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.given[r.pool()] = true
	return b.allocation()
}

// read is the ledger of a list at most as old as the cache keeps it. Comments are parsed once a list.
func (a *Allocator) read(ctx context.Context) (*ledger, error) {
	list, err := a.seen.Pools(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ledger == nil || !same(a.source, list) {
		a.ledger, a.source = readLedger(list, a.ledger), list
	}
	return a.ledger, nil
}

func (a *Allocator) readAnew(ctx context.Context) (*ledger, error) {
	a.seen.Forget()
	return a.read(ctx)
}

// same tells whether it is the very list: the cache gives back one slice until it reads anew.
func same(a, b []proxmox.Pool) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// heldByGuests looks for an earlier management cluster's VMs in the list of all guests, which is asked once for
// all clusters that wait.
func (a *Allocator) heldByGuests(ctx context.Context, l *ledger, r Request) error {
	if _, exists := l.entries[r.pool()]; !exists || r.ClusterExists {
		return nil
	}
	guests, err := a.seen.Machines(ctx)
	if err != nil {
		return fmt.Errorf("see what pool %s holds: %w", r.pool(), err)
	}
	n := 0
	for _, g := range guests {
		if g.Pool == r.pool() {
			n++
		}
	}
	return held(r.pool(), n)
}

// heldByMembers asks the pool itself, before it is used.
func (a *Allocator) heldByMembers(ctx context.Context, l *ledger, r Request) error {
	if _, exists := l.entries[r.pool()]; !exists || r.ClusterExists {
		return nil
	}
	members, err := a.pools.Members(ctx, r.pool())
	if err != nil {
		return fmt.Errorf("see what pool %s holds: %w", r.pool(), err)
	}
	return held(r.pool(), len(slices.DeleteFunc(members, func(m proxmox.Member) bool { return !m.Guest() })))
}

func held(pool string, vms int) error {
	if vms == 0 {
		return nil
	}
	return &Error{Kind: Held, Pool: pool, Message: fmt.Sprintf(
		"pool %s holds %s of an earlier management cluster: they are not touched; delete them in Proxmox VE, or choose another name", pool, countVMs(vms))}
}

func countVMs(n int) string {
	if n == 1 {
		return "1 VM"
	}
	return fmt.Sprintf("%d VMs", n)
}

func (a *Allocator) lock(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *Allocator) unlock() { <-a.turn }
