package proxmox_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"kubehenge.dev/proxmox"
)

// lists counts the reads of a list of pools.
type lists struct {
	proxmox.Pools
	reads  int
	err    error
	during func()
}

func (l *lists) List(context.Context) ([]proxmox.Pool, error) {
	l.reads++
	if l.during != nil {
		l.during()
	}
	return []proxmox.Pool{{ID: "a"}}, l.err
}

func TestCacheAsksOnceWhileFresh(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	l := &lists{}
	cache := proxmox.NewCache(l, nil, nil, 10*time.Second, now)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { cache.Pools(context.Background()) })
	}
	all.Wait()
	if l.reads != 1 {
		t.Fatalf("%d reads for 50 questions", l.reads)
	}
	now.SetTime(time.Unix(10, 0))
	cache.Pools(context.Background())
	if l.reads != 2 {
		t.Fatalf("%d reads after the list grew old", l.reads)
	}
	cache.Forget()
	cache.Pools(context.Background())
	if l.reads != 3 {
		t.Fatalf("%d reads after Forget", l.reads)
	}
}

func TestCacheRemembersFailuresAndNoCancellations(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	l := &lists{err: errors.New("down")}
	cache := proxmox.NewCache(l, nil, nil, 10*time.Second, now)
	for range 3 {
		if _, err := cache.Pools(context.Background()); err == nil {
			t.Fatal("no error")
		}
	}
	if l.reads != 1 {
		t.Fatalf("a Proxmox VE that is down was asked %d times", l.reads)
	}
	cache.Forget()
	ctx, cancel := context.WithCancel(context.Background())
	l.during = cancel
	cache.Pools(ctx)
	l.during, l.err = nil, nil
	if _, err := cache.Pools(context.Background()); err != nil {
		t.Fatalf("somebody else's cancellation was remembered: %v", err)
	}
}

func TestCacheDoesNotKeepAReadThatAWriteOvertook(t *testing.T) {
	now := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	l := &lists{}
	cache := proxmox.NewCache(l, nil, nil, 10*time.Second, now)
	l.during = cache.Forget
	cache.Pools(context.Background())
	l.during = nil
	cache.Pools(context.Background())
	if l.reads != 2 {
		t.Fatalf("%d reads; the first began before the write", l.reads)
	}
}

func TestCacheWithoutAListSaysSo(t *testing.T) {
	cache := proxmox.NewCache(nil, nil, nil, 0, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	if _, err := cache.Nodes(context.Background()); err == nil {
		t.Fatal("no error")
	}
}
