package stream

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"
)

// world is a hub behind a server.
type world struct {
	*testing.T
	clock *testclock.FakeClock
	hub   *Hub
	url   string
	alive atomic.Bool
	ended chan error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: testclock.NewFakeClock(time.Unix(1800000000, 0)), ended: make(chan error, 100)}
	w.alive.Store(true)
	w.hub = New(w.clock)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		err := w.hub.Serve(r.Context(), rw, r.URL.Query().Get("user"), w.alive.Load)
		if errors.Is(err, ErrTooMany) {
			rw.WriteHeader(http.StatusTooManyRequests)
		}
		w.ended <- err
	}))
	t.Cleanup(server.Close)
	t.Cleanup(w.hub.Close)
	w.url = server.URL
	return w
}

// open opens a stream and reads its greeting.
func (w *world) open(ctx context.Context, user string) *bufio.Reader {
	w.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/?user="+user, nil)
	if err != nil {
		w.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream; charset=utf-8" {
		w.Fatalf("%s %s", resp.Status, kind)
	}
	r := bufio.NewReader(resp.Body)
	if got := w.next(r); got != "retry: 3000" {
		w.Fatalf("greeted by %q", got)
	}
	return r
}

// next is the next message, its lines joined.
func (w *world) next(r *bufio.Reader) string {
	w.Helper()
	var lines []string
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			w.Fatalf("the stream ended: %v", err)
		}
		if line == "\n" {
			return strings.Join(lines, " ")
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
}

// waiters waits until so many goroutines wait for the clock: a ticker a stream, and a pause after an event.
func (w *world) waiters(n int) {
	w.Helper()
	for w.clock.Waiters() < n {
		if w.Context().Err() != nil {
			w.Fatal("nobody waits for the clock")
		}
	}
}

func TestWhatChangesIsToldOnceASecond(t *testing.T) {
	w := newWorld(t)
	r := w.open(t.Context(), "alice@pve")
	w.hub.Publish("", "clusters")
	if got := w.next(r); got != `event: changed data: {"what":["clusters"]}` {
		t.Error(got)
	}
	w.waiters(2)
	for range 1000 {
		w.hub.Publish("", "clusters")
		w.hub.Publish("", "tasks", "clusters")
	}
	w.hub.Publish("a41f09c", "changes")
	w.clock.Step(pause)
	if got := w.next(r); got != `event: changed data: {"what":["changes","clusters","tasks"],"commit":"a41f09c"}` {
		t.Error(got)
	}
}

func TestNothingIsToldTwice(t *testing.T) {
	h := New(testclock.NewFakeClock(time.Unix(1800000000, 0)))
	r, err := h.join("alice@pve")
	if err != nil {
		t.Fatal(err)
	}
	h.Publish("", "clusters")
	<-r.wake // the stream wakes, and before it looks more comes
	h.Publish("", "tasks")
	first, err := h.take(r)
	if err != nil {
		t.Fatal(err)
	}
	<-r.wake
	second, err := h.take(r)
	if err != nil || string(first) != `{"what":["clusters","tasks"]}` || second != nil {
		t.Errorf("%s, then %s, %v", first, second, err)
	}
}

func TestAStreamWithoutEventsIsKeptAlive(t *testing.T) {
	w := newWorld(t)
	r := w.open(t.Context(), "alice@pve")
	w.waiters(1)
	w.clock.Step(pingEvery)
	if got := w.next(r); got != ": ping" {
		t.Error(got)
	}
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	w := newWorld(t)
	w.open(t.Context(), "alice@pve")
	w.alive.Store(false)
	w.hub.Publish("", "clusters")
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if n := len(w.hub.readers); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

func TestAReaderWhoIsGoneIsForgotten(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.open(ctx, "alice@pve")
	cancel()
	<-w.ended
	if n := len(w.hub.readers); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

func TestAUserHasNoMoreThanSoManyStreams(t *testing.T) {
	w := newWorld(t)
	for range maxPerUser {
		w.open(t.Context(), "alice@pve")
	}
	if err := w.hub.Serve(t.Context(), httptest.NewRecorder(), "alice@pve", w.alive.Load); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
	w.open(t.Context(), "bob@pve")
}

func TestClosingEndsAllStreams(t *testing.T) {
	w := newWorld(t)
	w.open(t.Context(), "alice@pve")
	w.open(t.Context(), "bob@pve")
	w.hub.Close()
	<-w.ended
	<-w.ended
	w.hub.Publish("", "clusters")
	if err := w.hub.Serve(t.Context(), httptest.NewRecorder(), "alice@pve", w.alive.Load); err != nil {
		t.Error(err)
	}
}

// stuck is a reader that takes nothing.
type stuck struct{ http.ResponseWriter }

func (stuck) Write([]byte) (int, error) { return 0, context.DeadlineExceeded }

func TestAReaderWhoIsTooSlowIsDropped(t *testing.T) {
	w := newWorld(t)
	if err := w.hub.Serve(t.Context(), stuck{httptest.NewRecorder()}, "alice@pve", w.alive.Load); err != nil {
		t.Error(err)
	}
	if n := len(w.hub.readers); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}
