package allocation

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// ticket is a request that waits for the write. All that wait when the write's turn comes are served together: the
// pools are listed once before and once after, so that a thousand new claims in one commit do not list a thousand
// pools two thousand times.
type ticket struct {
	request Request
	done    chan struct{} // closed once there is an answer
	block   block
	err     error

	decision decision
	former   string // the pool's comment before
	written  bool
}

// write has the request served, by this goroutine or by the one whose turn it is.
func (a *Allocator) write(ctx context.Context, r Request) (*v1alpha1.Allocation, error) {
	t := &ticket{request: r, done: make(chan struct{})}
	a.mu.Lock()
	a.waiting = append(a.waiting, t)
	a.mu.Unlock()
	select {
	case <-t.done:
	case a.turn <- struct{}{}:
		a.serve(ctx, a.takeWaiting())
		a.unlock()
		<-t.done // it was among them, or among those of an earlier turn
	case <-ctx.Done():
		return nil, ctx.Err() // if it is served all the same, the pool's comment holds the answer for the next try
	}
	if t.err != nil {
		return nil, t.err
	}
	return a.give(r, t.block), nil
}

func (a *Allocator) takeWaiting() []*ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	tickets := a.waiting
	a.waiting = nil
	return tickets
}

// serve plans and writes with fresh eyes, since what was read before may be seconds old, and reads back.
func (a *Allocator) serve(ctx context.Context, tickets []*ticket) {
	defer func() {
		for _, t := range tickets {
			close(t.done)
		}
	}()
	l, err := a.readAnew(ctx)
	if err != nil {
		failAll(tickets, fmt.Errorf("read the allocations: %w", err))
		return
	}
	l = l.clone()
	var written []*ticket
	for _, t := range tickets {
		if t.err = a.serveOne(ctx, l, t); t.err == nil && t.written {
			written = append(written, t)
		}
	}
	if len(written) == 0 {
		return
	}
	after, err := a.readAnew(ctx)
	if err != nil {
		failAll(written, fmt.Errorf("read the allocations back: %w", err))
		return
	}
	for _, t := range written {
		t.err = a.confirm(ctx, after, t)
	}
}

func failAll(tickets []*ticket, err error) {
	for _, t := range tickets {
		t.err = err
	}
}

// serveOne writes what the request needs, and notes it in l for those that come after.
func (a *Allocator) serveOne(ctx context.Context, l *ledger, t *ticket) error {
	d, err := plan(l, t.request, a.inUse(t.request))
	if err != nil {
		return err
	}
	if err := a.heldByMembers(ctx, l, t.request); err != nil {
		return err
	}
	t.block, t.decision, t.former = d.block, d, l.entries[t.request.pool()].comment
	if d.action == keep {
		return nil
	}
	if err := a.apply(ctx, t.request.pool(), d); err != nil {
		return err
	}
	t.written = true
	l.put(proxmox.Pool{ID: t.request.pool(), Comment: d.comment})
	return nil
}

// confirm looks at what was read back. When another agent wrote the same at the same moment, at least the one that
// wrote later sees both, and takes its own back.
func (a *Allocator) confirm(ctx context.Context, after *ledger, t *ticket) error {
	pool := t.request.pool()
	e, exists := after.entries[pool]
	if exists && e.comment == t.decision.comment && e.clash == "" {
		return nil
	}
	contended := &Error{Kind: Contended, Pool: pool, Message: fmt.Sprintf("another agent gave out addresses at the same moment as pool %s's: trying again", pool)}
	if !exists || e.comment != t.decision.comment {
		return contended
	}
	defer a.seen.Forget()
	var err error
	if t.decision.action == create {
		err = a.pools.Delete(ctx, pool)
	} else {
		err = a.pools.SetComment(ctx, pool, t.former)
	}
	if err != nil {
		return fmt.Errorf("take back what another agent gave out too: %w", err)
	}
	return contended
}

// clone is a copy that may be changed.
func (l *ledger) clone() *ledger {
	return &ledger{entries: maps.Clone(l.entries), order: slices.Clone(l.order)}
}

// put notes a pool that was written.
func (l *ledger) put(p proxmox.Pool) {
	b, err := parseComment(p.ID, p.Comment)
	l.entries[p.ID] = entry{comment: p.Comment, block: b, err: err}
	if at, there := slices.BinarySearch(l.order, p.ID); !there {
		l.order = slices.Insert(l.order, at, p.ID)
	}
}
