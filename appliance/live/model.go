package live

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// The management cluster is asked for the Fleet, one small object, every probeEvery; an answer may take probeTimeout. Two in a row that do not come make
// it unreachable: that is known after nine seconds at most.
const (
	probeEvery   = 3 * time.Second
	probeTimeout = 3 * time.Second
	misses       = 2
)

// patience is how long the first reading may take before it is told.
const patience = 10 * time.Second

// Options say what is watched.
type Options struct {
	// Client reads the management cluster; nil where there is none. Of what it may, get, list and watch are used.
	Client client.WithWatch
	// Changed is called when something new is to be seen; it must return soon. Nil where nobody waits for it.
	Changed func(What)
	// Clock. Default: the real one.
	Clock clock.WithTicker
	// Log gets what goes wrong. Default: slog.Default.
	Log *slog.Logger
}

// Model is what is known of the management cluster. It is safe for concurrent use.
type Model struct {
	opts  Options
	kinds []*kind

	mu     sync.RWMutex
	tables *tables
	state  state
}

// state is how the model stands to the management cluster.
type state struct {
	answered time.Time       // when a question was answered last; zero for never
	begun    time.Time       // when watching began, or began again
	missed   int             // questions in a row that were not answered
	waiting  map[*kind]bool  // kinds that were not listed since watching began
	refused  map[*kind]error // kinds that the account may not read
	since    time.Time       // since when what is shown is old, while something is missing
	round    int             // counts how often watching began
	ever     bool            // everything was read once
}

// New is a Model that knows nothing yet.
func New(o Options) *Model {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	m := &Model{opts: o, tables: newTables()}
	m.kinds = m.tables.kinds()
	now := o.Clock.Now()
	m.state = state{begun: now, since: now, refused: map[*kind]error{}, waiting: m.allKinds()}
	return m
}

func (m *Model) allKinds() map[*kind]bool {
	all := map[*kind]bool{}
	for _, k := range m.kinds {
		all[k] = true
	}
	return all
}

// Run watches until the context is done.
func (m *Model) Run(ctx context.Context) {
	if m.opts.Client == nil {
		return
	}
	ticker := m.opts.Clock.NewTicker(probeEvery)
	defer ticker.Stop()
	stop := m.watch(ctx)
	defer func() { stop() }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			stop = m.tend(ctx, stop)
		}
	}
}

// tend asks whether the management cluster answers, and watches only while it does: connections that hang for long are not waited for, nor the
// reflectors' pauses between two attempts.
func (m *Model) tend(ctx context.Context, stop context.CancelFunc) context.CancelFunc {
	switch was, is := m.probe(ctx); {
	case !was && is:
		stop()
		return m.watch(ctx)
	case was && !is:
		stop()
	}
	return stop
}

// watch begins to watch everything, and gives what ends it.
func (m *Model) watch(ctx context.Context) context.CancelFunc {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, logr.Discard())) // failures are told at the Model
	m.mu.Lock()
	m.state.round++
	round := m.state.round
	m.state.begun, m.state.waiting, m.state.refused = m.opts.Clock.Now(), m.allKinds(), map[*kind]error{}
	m.mu.Unlock()
	for _, k := range m.kinds {
		from := &feed{reader: m.opts.Client, kind: k, failed: func(err error) { m.heard(round, k, err) }}
		r := toolscache.NewReflectorWithOptions(from.pages(), nil, &shelf{m, k, round}, toolscache.ReflectorOptions{Name: k.name, TypeDescription: k.name})
		go r.RunWithContext(ctx)
	}
	return cancel
}

// probe asks once whether the management cluster answers, and tells whether it did before and does now. A refusal is an answer.
func (m *Model) probe(ctx context.Context) (was, is bool) {
	within, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := m.opts.Client.Get(within, types.NamespacedName{Name: v1alpha1.FleetName}, &v1alpha1.Fleet{})
	m.mu.Lock()
	was = m.state.missed < misses
	whole := m.complete()
	if answered(err) {
		m.state.missed, m.state.answered = 0, m.opts.Clock.Now()
	} else {
		m.state.missed++
	}
	is = m.state.missed < misses
	if was && !is && whole {
		m.state.since = m.state.answered
	}
	m.mu.Unlock()
	if was != is {
		m.opts.Log.Warn("the management cluster", "answers", is, "reason", err)
		m.tell(Platform, Clusters)
	}
	return was, is
}

// heard notes what a list or watch came to.
func (m *Model) heard(round int, k *kind, err error) {
	m.mu.Lock()
	was := m.state.refused[k]
	current := round == m.state.round
	switch {
	case !current:
		// what an earlier round heard
	case refused(err):
		if m.complete() {
			m.state.since = m.opts.Clock.Now()
		}
		m.state.refused[k] = err
	case err == nil:
		m.state.answered = m.opts.Clock.Now()
		delete(m.state.refused, k)
	}
	m.mu.Unlock()
	if current && was == nil && refused(err) {
		m.opts.Log.Error("the management cluster refuses", "kind", k.name, "reason", err)
		m.tell(Platform, Clusters)
	}
}

// complete is true while all that is shown is as the management cluster has it. The caller holds m.mu.
func (m *Model) complete() bool {
	return m.state.missed < misses && len(m.state.waiting) == 0 && len(m.state.refused) == 0
}

// change makes a change that a watch brought.
func (m *Model) change(s *shelf, apply func() bool) {
	m.mu.Lock()
	changed := s.round == m.state.round && apply()
	m.mu.Unlock()
	if changed {
		m.tell(s.kind.tells...)
	}
}

// listed takes over a list. With the last of them nothing is old any more.
func (m *Model) listed(s *shelf, apply func() bool) {
	m.mu.Lock()
	current := s.round == m.state.round
	changed := current && apply()
	was := m.complete()
	if current {
		delete(m.state.waiting, s.kind)
	}
	done := !was && m.complete()
	m.state.ever = m.state.ever || done
	m.mu.Unlock()
	if changed || done {
		m.tell(s.kind.tells...)
	}
	if done {
		m.tell(Platform, Clusters)
	}
}

func (m *Model) tell(what ...What) {
	if m.opts.Changed == nil {
		return
	}
	for _, w := range what {
		m.opts.Changed(w)
	}
}
