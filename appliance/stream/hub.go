// Package stream answers: how does an open page learn that there is something new? It tells what changed, not how: the page asks again, with its own
// privileges.
package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"kubehenge.dev/render/told"
)

const (
	// pause is the shortest time between two events of one stream; what comes meanwhile is told together.
	pause = time.Second
	// pingEvery is how often something is sent on a stream where nothing happens, so that a reader who is gone is noticed.
	pingEvery = 20 * time.Second
	// patience is how long a reader may take for what is sent.
	patience = 10 * time.Second
	// maxPerUser is how many streams a user may have at once.
	maxPerUser = 10
)

// ErrTooMany says that a user has as many streams as one may have.
var ErrTooMany = told.Define("too-many-pages", "you have too many pages open; close one").With(nil).Because(nil)

// Hub tells all open streams what changed. What waits to be told is a set, so that no reader, however slow, makes it grow.
type Hub struct {
	clock clock.WithTicker

	mu      sync.Mutex
	readers map[*reader]struct{}
	closed  bool
}

// reader is one open stream.
type reader struct {
	user string
	wake chan struct{} // holds one
	gone chan struct{} // closed with the hub

	waiting map[string]bool // what was not told yet; guarded by the hub
	commit  string          // the branch's newest commit, where that moved
}

// New is a Hub without streams.
func New(c clock.WithTicker) *Hub {
	return &Hub{clock: c, readers: map[*reader]struct{}{}}
}

// Publish tells that something changed: clusters, fleet, changes or tasks. Commit is the branch's tip where that moved, or empty. It never waits.
func (h *Hub) Publish(commit string, what ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.readers {
		for _, w := range what {
			r.waiting[w] = true
		}
		r.commit = cmp.Or(commit, r.commit)
		select {
		case r.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// Close ends all streams; none begins afterwards.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for r := range h.readers {
		close(r.gone)
		delete(h.readers, r)
	}
}

func (h *Hub) join(user string) (*reader, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for r := range h.readers {
		if r.user == user {
			n++
		}
	}
	if n >= maxPerUser {
		return nil, ErrTooMany
	}
	r := &reader{user: user, wake: make(chan struct{}, 1), gone: make(chan struct{}), waiting: map[string]bool{}}
	if h.closed {
		close(r.gone)
		return r, nil
	}
	h.readers[r] = struct{}{}
	return r, nil
}

func (h *Hub) leave(r *reader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.readers, r)
}

// event is what is sent.
type event struct {
	What   []string `json:"what"`
	Commit string   `json:"commit,omitempty"`
}

// take is what waits to be told; the text is one line. It is nil where all was told already: what comes between a waking and this is
// told at once, and wakes once more.
func (h *Hub) take(r *reader) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(r.waiting) == 0 {
		return nil, nil
	}
	e := event{What: []string{}, Commit: r.commit}
	for w := range r.waiting {
		e.What = append(e.What, w)
	}
	slices.Sort(e.What)
	r.waiting, r.commit = map[string]bool{}, ""
	return json.Marshal(e)
}

// Serve streams to a user until the reader is gone or too slow, the context is done, the hub is closed, or the session is no longer alive. The error is
// ErrTooMany before anything was sent; how a stream ends is nobody's error.
func (h *Hub) Serve(ctx context.Context, w http.ResponseWriter, user string, alive func() bool) error {
	r, err := h.join(user)
	if err != nil {
		return err
	}
	defer h.leave(r)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("X-Accel-Buffering", "no") // or a proxy keeps events until there are many
	w.WriteHeader(http.StatusOK)
	if send(w, "retry: 3000\n\n") == nil {
		h.follow(ctx, w, r, alive)
	}
	return nil
}

func (h *Hub) follow(ctx context.Context, w http.ResponseWriter, r *reader, alive func() bool) {
	ping := h.clock.NewTicker(pingEvery)
	defer ping.Stop()
	var quiet <-chan time.Time // not nil while the next event has to wait
	for {
		awake := r.wake
		if quiet != nil {
			awake = nil
		}
		text := ": ping\n\n"
		select {
		case <-ctx.Done():
			return
		case <-r.gone:
			return
		case <-quiet:
			quiet = nil
			continue
		case <-awake:
			data, err := h.take(r)
			if err != nil {
				return
			}
			if data == nil {
				continue
			}
			text, quiet = fmt.Sprintf("event: changed\ndata: %s\n\n", data), h.clock.After(pause)
		case <-ping.C():
		}
		if !alive() || send(w, text) != nil {
			return
		}
	}
}

// send gives up on a reader that takes too long.
func send(w http.ResponseWriter, text string) error {
	control := http.NewResponseController(w)
	if err := control.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	return control.Flush()
}
