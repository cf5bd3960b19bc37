package source

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"kubehenge.dev/git"
)

// Repository is what is asked of a clone; *git.Repository does it.
type Repository interface {
	Fetch(ctx context.Context) (tip string, err error)
	FetchCommit(ctx context.Context, sha string) error
	Commit(sha string) (*git.Commit, error)
	Tree(sha string) (*git.Tree, error)
	Descends(ctx context.Context, newer, older string) (bool, error)
	Vouch(tip string) (*git.Vouch, error)
	Origins(ctx context.Context, start string, folders []string, most int) (map[string]*git.Commit, error)
}

// Options of a Source. The zero value polls each minute and accepts unsigned commits.
type Options struct {
	// Signers gives the keys that may sign, read afresh for each tip, so that a changed Secret works at once. Nil accepts unsigned commits; a
	// list without keys accepts nothing.
	Signers func() (git.AllowedSigners, error)
	// Poll is the time between two fetches, give or take a tenth. Default one minute.
	Poll time.Duration
	// Clock defaults to the real one.
	Clock clock.Clock
	// LastApplied gives the commit that an earlier run accepted, empty for none. It is asked until a commit is in force. Nil is none.
	LastApplied func() string
	// AcceptRewrite is a commit whose history is accepted once although it does not descend from the applied commit.
	AcceptRewrite string
}

// Revision is a commit in force.
type Revision struct {
	Commit string
	Tree   *git.Tree
	// SignedBy is the principal that signed or vouched; empty where no signature is asked for.
	SignedBy string
	// Subject is the first line of the commit's message.
	Subject string
	// When is the committer's time.
	When time.Time
}

// Source watches one branch.
type Source struct {
	repo      Repository
	opts      Options
	revisions latest[Revision]
	states    latest[State]
	nudged    chan struct{}
	inForce   Revision

	mu    sync.Mutex
	state State
}

// New makes a Source; Run starts it.
func New(repo Repository, o Options) *Source {
	if o.Poll <= 0 {
		o.Poll = time.Minute
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.LastApplied == nil {
		o.LastApplied = func() string { return "" }
	}
	return &Source{
		repo: repo, opts: o,
		revisions: newLatest[Revision](), states: newLatest[State](), nudged: make(chan struct{}, 1),
		state: State{Reason: Starting, Message: "The repository has not been read yet.", Since: o.Clock.Now()},
	}
}

// Revisions gives each accepted commit; one that nobody took is replaced by the next. For one reader.
func (s *Source) Revisions() <-chan Revision { return s.revisions.c }

// States gives each change of state; one that nobody took is replaced by the next. For one reader.
func (s *Source) States() <-chan State { return s.states.c }

// State is how things stand.
func (s *Source) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Notify makes Run fetch at once. Many calls during one fetch make one more fetch.
func (s *Source) Notify() {
	select {
	case s.nudged <- struct{}{}:
	default:
	}
}

// Run fetches until the context ends.
func (s *Source) Run(ctx context.Context) error {
	s.resume(s.opts.LastApplied())
	failures := 0
	for ctx.Err() == nil {
		if s.round(ctx) {
			failures = 0
		} else {
			failures++
		}
		if !s.wait(ctx, s.pause(failures)) {
			break
		}
	}
	return nil
}

// Pauses between rounds.
const (
	firstRetry = 2 * time.Second
	lastRetry  = 2 * time.Minute
	leastGap   = 200 * time.Millisecond // between two fetches, whoever asks for them
)

// pause is the poll's interval, or after failures a growing one, give or take a tenth so that many agents do not ask at once.
func (s *Source) pause(failures int) time.Duration {
	d := s.opts.Poll
	if failures > 0 {
		d = min(firstRetry<<min(failures-1, 10), lastRetry)
	}
	return time.Duration(float64(d) * (0.9 + 0.2*rand.Float64())) //nolint:gosec // spreads load, guards nothing
}

// wait ends after a pause, or earlier by a nudge. It is false when the context ended.
func (s *Source) wait(ctx context.Context, pause time.Duration) bool {
	if !s.sleep(ctx, min(leastGap, pause), nil) {
		return false
	}
	return s.sleep(ctx, pause-min(leastGap, pause), s.nudged)
}

func (s *Source) sleep(ctx context.Context, d time.Duration, nudged <-chan struct{}) bool {
	timer := s.opts.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
	case <-nudged:
	}
	return true
}

// latest is a channel that holds one value, the newest. For one writer.
type latest[T any] struct{ c chan T }

func newLatest[T any]() latest[T] { return latest[T]{make(chan T, 1)} }

func (l latest[T]) put(v T) {
	select {
	case <-l.c:
	default:
	}
	l.c <- v
}
