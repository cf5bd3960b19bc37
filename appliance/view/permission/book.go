package permission

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Book keeps a Holder for each person, session or token that was seen lately.
type Book struct {
	clock clock.PassiveClock
	pools func(ctx context.Context) map[string]bool

	mu      sync.Mutex
	holders map[string]*page
	swept   time.Time
}

type page struct {
	*Holder
	source Source
	seen   time.Time
}

// NewBook is empty. Pools is as in New.
func NewBook(c clock.PassiveClock, pools func(ctx context.Context) map[string]bool) *Book {
	return &Book{clock: c, pools: pools, holders: map[string]*page{}}
}

// Of is the Holder of who has that key, made with the source where there is none or it had another: who signs in anew is asked for with the new ticket, and
// not until the old one has run out.
func (b *Book) Of(key string, source Source) *Holder {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	b.sweep(now)
	p := b.holders[key]
	if p == nil || p.source != source {
		p = &page{Holder: New(source, b.clock, b.pools), source: source}
		b.holders[key] = p
	}
	p.seen = now
	return p.Holder
}

// sweep forgets who was not seen for so long that nothing of them counts. The caller holds b.mu.
func (b *Book) sweep(now time.Time) {
	if now.Sub(b.swept) < MaxAge {
		return
	}
	b.swept = now
	for key, p := range b.holders {
		if now.Sub(p.seen) > MaxAge {
			delete(b.holders, key)
		}
	}
}
