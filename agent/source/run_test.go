package source

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// running runs a source inside a bubble of simulated time until the test ends.
func running(t *testing.T, r *repo, o Options) *Source {
	t.Helper()
	s := New(r, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run ends with %v", err)
		}
	})
	synctest.Wait()
	return s
}

func TestTheRepositoryIsPolledWithJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRepo(t)
		r.tip = r.commit(t, "", "base", 0)
		running(t, r, Options{Poll: 10 * time.Second})
		time.Sleep(1000 * time.Second)
		synctest.Wait()
		if n := r.fetches.Load(); n < 90 || n > 112 {
			t.Errorf("%d fetches in 1000 s", n)
		}
	})
}

func TestANudgeIsFollowedAtOnceAndManyMakeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRepo(t)
		r.tip = r.commit(t, "", "base", 0)
		s := running(t, r, Options{Poll: time.Hour})
		<-s.Revisions()
		time.Sleep(time.Second)
		for range 100 {
			s.Notify()
		}
		synctest.Wait()
		if n := r.fetches.Load(); n != 2 {
			t.Errorf("%d fetches after a hundred nudges at once, want 2", n)
		}
		for range 100 { // a nudge each 10 ms for a second: one fetch each 200 ms
			s.Notify()
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if n := r.fetches.Load(); n < 6 || n > 8 {
			t.Errorf("%d fetches after a second of nudges", n)
		}
	})
}

func TestANewTipIsPublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRepo(t)
		base := r.commit(t, "", "base", 0)
		r.tip = base
		s := running(t, r, Options{Poll: time.Hour})
		r.tip = r.commit(t, base, "next", 0)
		time.Sleep(time.Second)
		s.Notify()
		synctest.Wait()
		if rev := <-s.Revisions(); rev.Commit != r.tip {
			t.Errorf("the newest revision is %s, want %s", rev.Commit, r.tip)
		}
		if state := <-s.States(); state.Applied != r.tip || state.Reason != InStep {
			t.Errorf("the newest state is %+v", state)
		}
	})
}

func TestAfterFailuresPausesGrowAndANudgeEndsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRepo(t)
		r.err = errors.New("gone")
		s := running(t, r, Options{Poll: time.Second})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := r.fetches.Load(); n < 8 || n > 13 { // after 0, 2, 6, 14, 30, 62, 126 s, then each 2 minutes
			t.Errorf("%d fetches in 10 minutes of failures", n)
		}
		r.err, r.tip = nil, r.commit(t, "", "base", 0)
		s.Notify()
		synctest.Wait()
		if got := s.State(); got.Reason != InStep {
			t.Errorf("the state is %+v", got)
		}
	})
}

func TestAfterARestartTheAppliedCommitIsThereBeforeTheRepositoryIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRepo(t)
		last := r.commit(t, "", "base", 0)
		r.err = errors.New("gone")
		s := running(t, r, Options{LastApplied: func() string { return last }})
		select {
		case rev := <-s.Revisions():
			if rev.Commit != last {
				t.Errorf("the revision is %s, want %s", rev.Commit, last)
			}
		default:
			t.Error("nothing was published")
		}
		if got := s.State(); got.Applied != last || got.Reason != Unreadable {
			t.Errorf("the state is %+v", got)
		}
	})
}
