package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
)

// State is whether a child runs.
type State string

// The states of a child.
const (
	Running State = "Running"
	Stopped State = "Stopped"
)

// Status is what is known of a child.
type Status struct {
	Name  string
	State State
	// PID is its process, and its process group; 0 while it is stopped.
	PID int
	// Since is when State last changed.
	Since time.Time
	// Ends counts how often it ended; LastEnd says how it did last.
	Ends    int
	LastEnd string
	// Log is the path of its log; what is older is in Log.1.
	Log string
}

// Options say how a Supervisor works.
type Options struct {
	// LogDir is the folder of the children's logs; it must exist.
	LogDir string
	// LogLimit is the size in bytes at which a log is moved aside. Default: 32 MiB.
	LogLimit int64
	// Clock times restarts. Default: the real one.
	Clock clock.Clock
}

// Supervisor runs children. Its methods may be called by several goroutines at once.
type Supervisor struct {
	options Options
	mu      sync.Mutex
	batches []*batch
}

// batch is what is started and stopped together.
type batch struct {
	children []*child
	stop     context.CancelFunc
}

const (
	defaultLogLimit = 32 << 20
	// readyInterval is how often a child that starts is asked whether it is ready.
	readyInterval = 50 * time.Millisecond
	// startTries is how often a child may end before it was ever ready.
	startTries = 3
)

// NewSupervisor makes one without children.
func NewSupervisor(options Options) *Supervisor {
	if options.LogLimit == 0 {
		options.LogLimit = defaultLogLimit
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	return &Supervisor{options: options}
}

// Start starts children together and returns when all are ready. They run until Stop, whatever becomes of ctx. The
// error of a child that does not come up carries the end of its log.
func (s *Supervisor) Start(ctx context.Context, specs ...Spec) error {
	run, stop := context.WithCancel(context.Background())
	b := &batch{stop: stop}
	for _, spec := range specs {
		c, err := newChild(spec, s.options)
		if err != nil {
			stop()
			return err
		}
		b.children = append(b.children, c)
	}
	s.mu.Lock()
	s.batches = append(s.batches, b)
	s.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range b.children {
		go c.run(run)
		group.Go(func() error { return c.waitReady(ctx) })
	}
	return group.Wait()
}

func (c *child) waitReady(ctx context.Context) error {
	if c.spec.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return Wait(ctx, c.spec.Name+" to be ready", readyInterval, func(ctx context.Context) error {
		if err := c.alive(startTries); err != nil {
			cancel(err)
			return err
		}
		return c.spec.Ready(ctx)
	})
}

// Stop ends all children, those started last first, and returns when none is left.
func (s *Supervisor) Stop() {
	s.mu.Lock()
	batches := s.batches
	s.batches = nil
	s.mu.Unlock()
	for i := len(batches) - 1; i >= 0; i-- {
		batches[i].stop()
		for _, c := range batches[i].children {
			<-c.done
		}
	}
}

// Has is true for a child that was started and not ended for good, whether it runs at this moment or not.
func (s *Supervisor) Has(name string) bool {
	_, err := s.child(name)
	return err == nil
}

// End ends a child that was started alone, for good, and returns when it has ended.
func (s *Supervisor) End(name string) error {
	s.mu.Lock()
	i := slices.IndexFunc(s.batches, func(b *batch) bool { return len(b.children) == 1 && b.children[0].spec.Name == name })
	if i < 0 {
		s.mu.Unlock()
		return fmt.Errorf("no child that was started alone is named %q", name)
	}
	b := s.batches[i]
	s.batches = slices.Delete(s.batches, i, i+1)
	s.mu.Unlock()
	b.stop()
	<-b.children[0].done
	return nil
}

// Kill ends a child's process group with SIGKILL and returns when it is gone. The child is started again like one that
// ended by itself.
func (s *Supervisor) Kill(name string) error {
	c, err := s.child(name)
	if err != nil {
		return err
	}
	return c.kill()
}

// Pause stops a child's processes where they are (SIGSTOP) until Resume.
func (s *Supervisor) Pause(name string) error { return s.signal(name, syscall.SIGSTOP) }

// Resume lets a paused child go on.
func (s *Supervisor) Resume(name string) error { return s.signal(name, syscall.SIGCONT) }

func (s *Supervisor) signal(name string, sig syscall.Signal) error {
	c, err := s.child(name)
	if err != nil {
		return err
	}
	return c.signal(sig)
}

// WaitReady waits until a child runs and is ready, for instance after Kill.
func (s *Supervisor) WaitReady(ctx context.Context, name string) error {
	c, err := s.child(name)
	if err != nil {
		return err
	}
	return Wait(ctx, name+" to be ready", readyInterval, func(ctx context.Context) error {
		if c.snapshot().State != Running {
			return errors.New("it is not running")
		}
		if c.spec.Ready == nil {
			return nil
		}
		return c.spec.Ready(ctx)
	})
}

func (s *Supervisor) child(name string) (*child, error) {
	for _, c := range s.all() {
		if c.spec.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no child is named %q", name)
}

// Status returns what is known of each child, in the order of their start.
func (s *Supervisor) Status() []Status {
	var out []Status
	for _, c := range s.all() {
		out = append(out, c.snapshot())
	}
	return out
}

func (s *Supervisor) all() []*child {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*child
	for _, b := range s.batches {
		out = append(out, b.children...)
	}
	return out
}
