package allocation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Release gives back what a cluster held by deleting its pool, once Proxmox VE itself says that nothing is in it. It
// is done when it returns nil; a pool that is gone already is no error. While something is left, the error is an
// *Error of kind Occupied that names it. Call it only when the Cluster is gone from the management cluster.
func (a *Allocator) Release(ctx context.Context, fleet *v1alpha1.Fleet, namespace, name string) error {
	pool := v1alpha1.ClusterPool(fleet.Spec.Proxmox.WorkloadPool, namespace, name)
	if a.askedBefore(pool) {
		if err := a.leftInList(ctx, pool); err != nil {
			return err
		}
	}
	if err := a.lock(ctx); err != nil {
		return err
	}
	defer a.unlock()
	members, err := a.pools.Members(ctx, pool)
	switch {
	case proxmox.Is(err, proxmox.NotFound):
		a.forget(pool)
		return nil
	case err != nil:
		return fmt.Errorf("see what pool %s holds: %w", pool, err)
	case len(members) > 0:
		return occupied(pool, members)
	}
	return a.deletePool(ctx, pool)
}

// askedBefore is true from the second question on. The first goes to the pool itself: a cluster whose VMs are gone by
// then, as most are, need not wait for the list of guests to grow old.
func (a *Allocator) askedBefore(pool string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.leaving[pool]
	a.leaving[pool] = true
	return before
}

// leftInList answers from the list of all guests while that still shows some, so that many clusters on their way out
// cost no call each.
func (a *Allocator) leftInList(ctx context.Context, pool string) error {
	guests, err := a.seen.Machines(ctx)
	if err != nil {
		return fmt.Errorf("see what pool %s holds: %w", pool, err)
	}
	var left []proxmox.Member
	for _, g := range guests {
		if g.Pool == pool {
			left = append(left, proxmox.Member{Type: g.Type, VMID: g.VMID, Name: g.Name, Node: g.Node})
		}
	}
	if len(left) > 0 {
		return occupied(pool, left)
	}
	return nil
}

// deletePool lets Proxmox VE have the last word: it refuses to delete a pool with members.
func (a *Allocator) deletePool(ctx context.Context, pool string) error {
	defer a.seen.Forget()
	err := a.pools.Delete(ctx, pool)
	var refused *proxmox.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == proxmox.InUse:
		return &Error{Kind: Occupied, Pool: pool, Message: fmt.Sprintf("pool %s cannot go yet: %s", pool, refused.Reason)}
	case err != nil && !proxmox.Is(err, proxmox.NotFound):
		return err
	}
	a.forget(pool)
	return nil
}

func (a *Allocator) forget(pool string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.given, pool)
	delete(a.leaving, pool)
}

// shown is how many members a sentence names.
const shown = 3

func occupied(pool string, left []proxmox.Member) *Error {
	names := make([]string, 0, shown)
	for _, m := range left[:min(shown, len(left))] {
		names = append(names, m.String())
	}
	list := strings.Join(names, ", ")
	if n := len(left) - shown; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	return &Error{Kind: Occupied, Pool: pool, Message: fmt.Sprintf("pool %s still holds %s", pool, list)}
}
