package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockInterval is how often the lock is tried while another process builds.
const lockInterval = 500 * time.Millisecond

// lock waits until no other process builds into the cache. The kernel gives it up when this process ends.
func (b *builder) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(b.options.Cache, 0o755); err != nil {
		return nil, fmt.Errorf("make the cache folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(b.options.Cache, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the cache's lock: %w", err)
	}
	for waiting := false; syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil; waiting = true {
		if !waiting {
			b.options.Progress.Printf("waiting for another build ...")
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(lockInterval):
		}
	}
	return func() { f.Close() }, nil
}
