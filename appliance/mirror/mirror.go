package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"kubehenge.dev/git"
)

// Direction is which way commits go.
type Direction string

// The directions.
const (
	// To pushes what came here.
	To Direction = "to"
	// From takes what came there.
	From Direction = "from"
	// Both does both.
	Both Direction = "both"
)

// State is how the two stand.
type State string

// The states.
const (
	// Unknown says that nobody has looked yet.
	Unknown State = "unknown"
	// InStep says that both branches are at the same commit.
	InStep State = "in-step"
	// Behind says that one side has commits that the other does not have, and does not get as the direction is.
	Behind State = "behind"
	// Diverged says that both sides have commits of their own.
	Diverged State = "diverged"
	// Refused says that what came there does not pass the checks, or that the other server does not take what came here.
	Refused State = "refused"
	// Failed says that the other repository cannot be read or written now.
	Failed State = "failed"
)

// Standing is a state with one sentence, and since when both are so.
type Standing struct {
	State   State
	Message string
	Since   time.Time
}

// The waits between two looks. After a failure it is tried again sooner than at the next look at first, and then less and less often.
const (
	DefaultInterval = time.Minute
	firstRetry      = 2 * time.Second
	lastRetry       = 5 * time.Minute
)

// Options say what is mirrored where.
type Options struct {
	// Repository is the one that is served here, opened in place.
	Repository *git.Repository
	// Outside is the one elsewhere.
	Outside git.Outside
	// Direction. Default To.
	Direction Direction
	// Interval is the time between two looks. Default DefaultInterval.
	Interval time.Duration
	// Take judges a commit that was fetched, and moves the branch to it where nothing is against it; lines say what is. Needed for From and Both.
	Take func(ctx context.Context, commit string) (lines []string, err error)
	// Rules are a mark of what Take judges by besides the commits, such as a file's time of change: when it is another, what was refused is judged anew. Nil
	// where there is nothing but the commits.
	Rules func() string
	// Clock. Default: the real one.
	Clock clock.WithTicker
	// Log. Default: slog.Default.
	Log *slog.Logger
}

// Mirror keeps two repositories in step.
type Mirror struct {
	opts  Options
	nudge chan struct{}

	mu       sync.Mutex
	standing Standing

	// refused is what was refused last, and what was said, so that it is judged once and not at each look.
	refused judged
	said    string
}

// judged is what a verdict is about: the two tips, and the mark of the rules.
type judged struct{ here, there, rules string }

// New is a Mirror that has not looked yet.
func New(o Options) (*Mirror, error) {
	o.Direction = cmp.Or(o.Direction, To)
	o.Interval = cmp.Or(o.Interval, DefaultInterval)
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Rules == nil {
		o.Rules = func() string { return "" }
	}
	if err := o.Outside.Check(); err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	switch {
	case o.Direction != To && o.Direction != From && o.Direction != Both:
		return nil, fmt.Errorf("mirror: the direction is %q; it may be to, from or both", o.Direction)
	case o.Direction != To && o.Take == nil:
		return nil, errors.New("mirror: nobody judges what comes")
	}
	m := &Mirror{opts: o, nudge: make(chan struct{}, 1)}
	m.standing = Standing{Unknown, "Not looked at yet.", o.Clock.Now()}
	return m, nil
}

// Nudge has the mirror look at once. It returns at once.
func (m *Mirror) Nudge() {
	select {
	case m.nudge <- struct{}{}:
	default: // it is about to look anyway
	}
}

// Standing is how the two stand, as of the last look.
func (m *Mirror) Standing() Standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.standing
}

// URL is where the other repository is, without credentials, and Direction which way commits go.
func (m *Mirror) URL() string { return m.opts.Outside.URL }

// Direction is which way commits go.
func (m *Mirror) Direction() Direction { return m.opts.Direction }

// Run looks until the context is done.
func (m *Mirror) Run(ctx context.Context) {
	retry := time.Duration(0)
	for {
		m.Look(ctx)
		wait := m.opts.Interval
		if m.Standing().State == Failed {
			retry = min(max(2*retry, firstRetry), lastRetry)
			wait = retry
		} else {
			retry = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-m.nudge:
		case <-m.opts.Clock.After(wait):
		}
	}
}

// Look brings the two in step once, as far as may be, and says how they stand.
func (m *Mirror) Look(ctx context.Context) Standing {
	state, message, err := m.round(ctx)
	if err != nil {
		state, message = fault(err)
	}
	if ctx.Err() != nil {
		return m.Standing()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.standing.State != state || m.standing.Message != message {
		m.standing = Standing{state, message, m.opts.Clock.Now()}
		m.opts.Log.Info("mirror", "state", string(state), "message", message)
	}
	return m.standing
}

// fault tells what keeps from looking or pushing.
func fault(err error) (State, string) {
	words := strings.Join(strings.Fields(err.Error()), " ")
	if errors.Is(err, git.ErrRefused) {
		return Refused, "The other server does not take it: " + words
	}
	return Failed, "It is tried again: " + words
}

// maxCounted is how far commits are counted for a sentence.
const maxCounted = 1000

func (m *Mirror) round(ctx context.Context) (State, string, error) {
	here, err := m.opts.Repository.Fetch(ctx)
	if errors.Is(err, git.ErrNoBranch) {
		here, err = "", nil
	}
	if err != nil {
		return "", "", err
	}
	there, err := m.opts.Repository.FetchOutside(ctx, m.opts.Outside)
	if errors.Is(err, git.ErrNoBranch) {
		there, err = "", nil
	}
	switch {
	case err != nil:
		return "", "", err
	case here == there:
		return inStep(here)
	}
	onward, err := m.leads(ctx, there, here)
	if err != nil {
		return "", "", err
	}
	if onward {
		return m.give(ctx, here, there)
	}
	if onward, err = m.leads(ctx, here, there); err != nil {
		return "", "", err
	}
	if onward {
		return m.take(ctx, here, there)
	}
	return Diverged, fmt.Sprintf("Both sides have commits of their own: here %.12s, there %.12s. Nothing is overwritten; merge one into the other and push.", here, there), nil
}

func inStep(at string) (State, string, error) {
	if at == "" {
		return InStep, "Neither side has a commit yet.", nil
	}
	return InStep, fmt.Sprintf("In step at %.12s.", at), nil
}

// leads tells whether the way from an older commit leads to a newer one; none leads everywhere.
func (m *Mirror) leads(ctx context.Context, older, newer string) (bool, error) {
	if older == "" || newer == "" {
		return older == "", nil
	}
	return m.opts.Repository.Descends(ctx, newer, older)
}

// give pushes what came here.
func (m *Mirror) give(ctx context.Context, here, there string) (State, string, error) {
	if m.opts.Direction == From {
		return Behind, m.more(ctx, "Here are", there, here, "that are not there, and none is pushed."), nil
	}
	if err := m.opts.Repository.PushOutside(ctx, m.opts.Outside, here); err != nil {
		return "", "", err
	}
	return inStep(here)
}

// take has what came there judged.
func (m *Mirror) take(ctx context.Context, here, there string) (State, string, error) {
	if m.opts.Direction == To {
		return Behind, m.more(ctx, "There are", here, there, "that are not here, and none is taken; nothing is overwritten, so that nothing more is pushed until they are here."), nil
	}
	about := judged{here, there, m.opts.Rules()}
	if m.refused == about {
		return Refused, m.said, nil
	}
	lines, err := m.opts.Take(ctx, there)
	switch {
	case err != nil:
		return "", "", err
	case len(lines) > 0:
		m.refused, m.said = about, fmt.Sprintf("%.12s there is not taken: %s", there, strings.Join(lines, "; "))
		return Refused, m.said, nil
	}
	return inStep(there)
}

func (m *Mirror) more(ctx context.Context, begin, older, newer, end string) string {
	commits, err := m.opts.Repository.Between(ctx, older, newer, maxCounted)
	if err != nil {
		return begin + " commits " + end
	}
	return fmt.Sprintf("%s %d commits %s", begin, len(commits), end)
}
