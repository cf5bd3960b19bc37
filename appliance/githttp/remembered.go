package githttp

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"kubehenge.dev/appliance/audit"
)

// mostRefused is how many pushes that were not taken are remembered, and lookedThrough how much of the audit log is read for them at the start.
const (
	mostRefused   = 20
	lookedThrough = 2000
)

// Refusal is a push that was not taken.
type Refusal struct {
	Time time.Time
	// User pushed; Message is what was told at the terminal, its lines joined by "; ".
	User, Message string
}

// remembered is what is told of the pushes and reads of late.
type remembered struct {
	mu      sync.Mutex
	refused []Refusal // the newest last
	read    time.Time
	pushed  [mostPushed]struct{ commit, user string } // the last that were let through; git may not have moved the branch yet
	next    int
}

// mostPushed is how many pushes are remembered until the server's word says who made them.
const mostPushed = 64

// recall finds what was refused before the start.
func (m *remembered) recall(log *audit.Log) error {
	events, err := log.Last(lookedThrough)
	if err != nil {
		return fmt.Errorf("recall the pushes that were refused: %w", err)
	}
	for i := len(events) - 1; i >= 0; i-- {
		if e := events[i]; e.What == "push" && e.Refused != "" {
			m.refuse(Refusal{e.Time, e.User, e.Refused})
		}
	}
	return nil
}

func (m *remembered) refuse(r Refusal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused = append(m.refused, r); len(m.refused) > mostRefused {
		m.refused = append(m.refused[:0], m.refused[1:]...)
	}
}

func (m *remembered) reads(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read = at
}

func (m *remembered) pushes(commit, user string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pushed[m.next%mostPushed] = struct{ commit, user string }{commit, user}
	m.next++
}

func (m *remembered) pusher(commit string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pushed {
		if p.commit == commit {
			return p.user
		}
	}
	return ""
}

// Pusher is the user of Proxmox VE who pushed a commit as the tip of a push; empty where nobody did, or where that is not known. Whose token it was counts,
// not which.
func (h *Handler) Pusher(commit string) string {
	user := h.late.pusher(commit)
	if user == "" {
		v, err := h.repository.VouchOf(commit)
		if err != nil || v == nil {
			return ""
		}
		if _, err := h.own.VerifyVouch(v); err != nil {
			return ""
		}
		user = v.User
	}
	user, _, _ = strings.Cut(user, "!")
	return user
}

// Refused are the last pushes that were not taken, the newest first.
func (h *Handler) Refused() []Refusal {
	h.late.mu.Lock()
	defer h.late.mu.Unlock()
	list := make([]Refusal, 0, len(h.late.refused))
	for i := len(h.late.refused) - 1; i >= 0; i-- {
		list = append(list, h.late.refused[i])
	}
	return list
}

// LastRead is when the agent read the repository last with its own token; nil before it did since the start.
func (h *Handler) LastRead() *time.Time {
	h.late.mu.Lock()
	defer h.late.mu.Unlock()
	if h.late.read.IsZero() {
		return nil
	}
	at := h.late.read.UTC()
	return &at
}
