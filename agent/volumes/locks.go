package volumes

import (
	"context"
	"sync"
)

// Locks let one piece of work at a time use an owner VM. The zero value is ready; safe for concurrent use.
type Locks struct {
	mu   sync.Mutex
	held map[int]chan struct{} // closed when it is given back
}

// lock waits until nobody else uses the VM.
func (l *Locks) lock(ctx context.Context, vmid int) (unlock func(), err error) {
	for {
		held, mine := l.try(vmid)
		if mine {
			return func() { l.release(vmid) }, nil
		}
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *Locks) try(vmid int) (held chan struct{}, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.held[vmid]; held != nil {
		return held, false
	}
	if l.held == nil {
		l.held = map[int]chan struct{}{}
	}
	l.held[vmid] = make(chan struct{})
	return nil, true
}

func (l *Locks) release(vmid int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.held[vmid])
	delete(l.held, vmid)
}
