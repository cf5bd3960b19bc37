package status

import (
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Notice is what a part of the agent that watches something of its own has to say at a claim.
type Notice struct {
	// Kind says what becomes of it: Waiting passes by itself, Terminal needs a person.
	Kind Kind
	// Sentence is one plain sentence, without a time and without a full stop: it must stay the same while the cause does.
	Sentence string
	// Since is when it began to be true.
	Since time.Time
}

// Board collects notices by claim and topic. It is the leader's memory: each part tells its notices anew after a
// restart. Safe for concurrent use.
type Board struct {
	mu      sync.Mutex
	notices map[types.NamespacedName]map[string]Notice
	wake    func(...types.NamespacedName)
}

// NewBoard is an empty Board; wake is called with each claim whose notices changed.
func NewBoard(wake func(...types.NamespacedName)) *Board {
	return &Board{notices: map[types.NamespacedName]map[string]Notice{}, wake: wake}
}

// Say puts a notice under a topic, such as "placement", in place of the one that stood there. A notice that says the
// same as the old one keeps the old time.
func (b *Board) Say(claim types.NamespacedName, topic string, n Notice) {
	if b.put(claim, topic, n) {
		b.wake(claim)
	}
}

func (b *Board) put(claim types.NamespacedName, topic string, n Notice) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	topics := b.notices[claim]
	if topics == nil {
		topics = map[string]Notice{}
		b.notices[claim] = topics
	}
	old, stood := topics[topic]
	if stood && old.Kind == n.Kind && old.Sentence == n.Sentence {
		return false
	}
	topics[topic] = n
	return true
}

// Clear takes a topic's notice away.
func (b *Board) Clear(claim types.NamespacedName, topic string) {
	if b.take(claim, topic) {
		b.wake(claim)
	}
}

func (b *Board) take(claim types.NamespacedName, topic string) (changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, stood := b.notices[claim][topic]; !stood {
		return false
	}
	delete(b.notices[claim], topic)
	if len(b.notices[claim]) == 0 {
		delete(b.notices, claim)
	}
	return true
}

// Notices are a claim's, what needs a person first, then by topic. A nil Board has none.
func (b *Board) Notices(claim types.NamespacedName) []Notice {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	topics := make([]string, 0, len(b.notices[claim]))
	for topic := range b.notices[claim] {
		topics = append(topics, topic)
	}
	slices.SortFunc(topics, func(x, y string) int {
		a, c := b.notices[claim][x], b.notices[claim][y]
		if a.Kind != c.Kind {
			return int(c.Kind) - int(a.Kind)
		}
		return strings.Compare(x, y)
	})
	out := make([]Notice, len(topics))
	for i, topic := range topics {
		out[i] = b.notices[claim][topic]
	}
	return out
}

// Told is an error that carries its own sentence for the claim's status.
type Told struct {
	// Kind says what becomes of it.
	Kind Kind
	// Reason is one CamelCase word for the condition.
	Reason string
	// Sentence is a Notice's.
	Sentence string
	// Cause is the error behind it, where there is one.
	Cause error
}

// Error is the sentence.
func (t *Told) Error() string { return t.Sentence }

// Unwrap is the error behind it.
func (t *Told) Unwrap() error { return t.Cause }
