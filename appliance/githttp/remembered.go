package githttp

import (
	"fmt"
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
}

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
