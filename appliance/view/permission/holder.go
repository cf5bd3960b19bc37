// Package permission answers: may this person do this? It asks Proxmox VE as the person, so that its answer is Proxmox VE's own, and remembers for a
// short time. What a change takes is render/permission's matter.
package permission

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"kubehenge.dev/render/permission"
)

// MaxAge is how long an answer of Proxmox VE may be used.
const MaxAge = 30 * time.Second

// Source is Proxmox VE as one person.
type Source interface {
	// AllPermissions are the person's effective privileges on every path that has an ACL entry and on every pool; paths without any are left out.
	AllPermissions(ctx context.Context) (map[string][]string, error)
	// PermissionsOn are the person's effective privileges on one path.
	PermissionsOn(ctx context.Context, path string) ([]string, error)
}

// Holder is what one person holds. It is safe for concurrent use; who comes while Proxmox VE is asked waits for that answer.
type Holder struct {
	source Source
	clock  clock.PassiveClock
	pools  func(ctx context.Context) map[string]bool

	mu    sync.Mutex
	until time.Time
	all   map[string][]string // listed by Proxmox VE
	asked map[string][]string // asked one by one
	there map[string]bool     // the pools, once they were asked for
}

// New remembers nothing yet. Pools are the pools that there are, by name, so that many clusters that somebody may not see cost one call and not one
// each; nil when that is not known.
func New(source Source, c clock.PassiveClock, pools func(ctx context.Context) map[string]bool) *Holder {
	return &Holder{source: source, clock: c, pools: pools}
}

// Answer tells whether all needs are met.
func (h *Holder) Answer(ctx context.Context, needs ...permission.Need) (permission.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.load(ctx); err != nil {
		return permission.Answer{}, err
	}
	var failed error
	answer := permission.Can(func(privilege, path string) bool {
		held, err := h.on(ctx, path)
		if err != nil && failed == nil {
			failed = err
		}
		return err == nil && slices.Contains(held, privilege)
	}, needs)
	return answer, failed
}

// load asks for all that Proxmox VE lists, where what is remembered is too old.
func (h *Holder) load(ctx context.Context) error {
	now := h.clock.Now()
	if now.Before(h.until) {
		return nil
	}
	h.until = time.Time{}
	all, err := h.source.AllPermissions(ctx)
	if err != nil {
		return err
	}
	h.all, h.asked, h.there, h.until = all, map[string][]string{}, nil, now.Add(MaxAge)
	return nil
}

// on is what is held on a path. A pool that is there and not listed is one without privileges; any other path that is not listed inherits, and only
// Proxmox VE knows what.
func (h *Holder) on(ctx context.Context, path string) ([]string, error) {
	if held, listed := h.all[path]; listed {
		return held, nil
	}
	if held, known := h.asked[path]; known {
		return held, nil
	}
	if pool, isPool := strings.CutPrefix(path, "/pool/"); isPool && h.isThere(ctx, pool) {
		return nil, nil
	}
	held, err := h.source.PermissionsOn(ctx, path)
	if err == nil {
		h.asked[path] = held
	}
	return held, err
}

// isThere tells whether there is such a pool. The pools are asked for once as long as answers count: a list of clusters asks for each.
func (h *Holder) isThere(ctx context.Context, pool string) bool {
	if h.there == nil && h.pools != nil {
		h.there = h.pools(ctx)
	}
	return h.there[pool]
}
