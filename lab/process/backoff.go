package process

import "time"

// backoff is how long to wait before a child that ended is started again: it doubles with each early end, from
// first to most, and starts over after a child has run for steady.
type backoff struct {
	first, most, steady time.Duration
	next                time.Duration
}

// after returns the delay for a child that ended after having run for ran.
func (b *backoff) after(ran time.Duration) time.Duration {
	if b.next == 0 || ran >= b.steady {
		b.next = b.first
	}
	delay := b.next
	b.next = min(2*b.next, b.most)
	return delay
}
