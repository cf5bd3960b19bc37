package allocation

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// ledger is all allocations that Proxmox VE shows, those below other workload pools included: two management
// clusters may share a network.
type ledger struct {
	entries map[string]entry
	order   []string // pools with an entry, sorted
}

// entry is a pool and what its comment says.
type entry struct {
	comment string
	block   block
	err     error  // why there is no block: errNoBlock, or what is wrong with it
	clash   string // the pool that holds some of the same; empty mostly
}

// readLedger reads all comments; what the former ledger read already (nil for none) is not parsed again, since among
// a thousand pools one changes at a time.
func readLedger(pools []proxmox.Pool, former *ledger) *ledger {
	l := &ledger{entries: make(map[string]entry, len(pools))}
	for _, p := range pools {
		l.entries[p.ID] = former.entry(p)
		l.order = append(l.order, p.ID)
	}
	slices.Sort(l.order)
	l.findClashes()
	return l
}

// entry is what a pool's comment says, from before or parsed now; clashes are found anew.
func (l *ledger) entry(p proxmox.Pool) entry {
	if l != nil {
		if e, known := l.entries[p.ID]; known && e.comment == p.Comment {
			e.clash = ""
			return e
		}
	}
	b, err := parseComment(p.ID, p.Comment)
	return entry{comment: p.Comment, block: b, err: err}
}

// findClashes marks pools that hold the same address or VMID.
func (l *ledger) findClashes() {
	type holding struct {
		pool string
		span span
	}
	var held []holding
	for _, pool := range l.order {
		for _, s := range l.entries[pool].block.nodes {
			held = append(held, holding{pool, s})
		}
	}
	slices.SortFunc(held, func(a, b holding) int { return a.span.first.Compare(b.span.first) })
	furthest := 0
	for i := 1; i < len(held); i++ {
		if held[furthest].span.overlaps(held[i].span) && held[furthest].pool != held[i].pool {
			l.clash(held[furthest].pool, held[i].pool)
		}
		if held[furthest].span.last.Less(held[i].span.last) {
			furthest = i
		}
	}
	l.findVMIDClashes()
}

func (l *ledger) findVMIDClashes() {
	pools := slices.DeleteFunc(slices.Clone(l.order), func(p string) bool { return l.entries[p].err != nil })
	slices.SortFunc(pools, func(a, b string) int {
		return int(l.entries[a].block.vmIDs.Start) - int(l.entries[b].block.vmIDs.Start)
	})
	furthest := 0
	for i := 1; i < len(pools); i++ {
		if overlap(l.entries[pools[furthest]].block.vmIDs, l.entries[pools[i]].block.vmIDs) {
			l.clash(pools[furthest], pools[i])
		}
		if l.entries[pools[furthest]].block.vmIDs.End < l.entries[pools[i]].block.vmIDs.End {
			furthest = i
		}
	}
}

func (l *ledger) clash(a, b string) {
	one, other := l.entries[a], l.entries[b]
	one.clash, other.clash = b, a
	l.entries[a], l.entries[b] = one, other
}

// unknown is why nobody can tell which addresses are free: a pool of a cluster whose allocation cannot be read.
// except is the pool that is asked for, whose own comment is judged elsewhere.
func (l *ledger) unknown(workloadPool, except string) *Error {
	for _, pool := range l.order {
		e := l.entries[pool]
		if pool == except || e.err == nil || !isClusterPool(workloadPool, pool) && errors.Is(e.err, errNoBlock) {
			continue
		}
		return &Error{Kind: Changed, Pool: pool, Message: fmt.Sprintf(
			"nothing is given out while the comment of pool %s cannot be read, since nobody knows which addresses its VMs use: %v; put its former comment back, or delete the pool if it is empty",
			pool, e.err)}
	}
	return nil
}

// isClusterPool tells a cluster's pool by its name, <workload pool>/<namespace>.<cluster>.
func isClusterPool(workloadPool, pool string) bool {
	rest, found := strings.CutPrefix(pool, workloadPool+"/")
	return found && strings.Contains(rest, ".") && !strings.Contains(rest, "/")
}

// taken is what all pools but one hold.
func (l *ledger) taken(except string) (nodes spans, vmIDs []v1alpha1.IDRange) {
	for _, pool := range l.order {
		if e := l.entries[pool]; pool != except && e.err == nil {
			nodes = append(nodes, e.block.nodes...)
			vmIDs = append(vmIDs, e.block.vmIDs)
		}
	}
	return join(nodes), vmIDs
}
