// Package progress tells a person what a lab is doing: one line a step, with the seconds since the start.
package progress

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// Log writes progress lines. It may be used by several goroutines at once; the zero value and nil write nothing.
type Log struct {
	mu    sync.Mutex
	out   io.Writer
	start time.Time
}

// New makes a Log whose seconds count from now.
func New(out io.Writer) *Log { return &Log{out: out, start: time.Now()} }

// Printf writes one line.
func (l *Log) Printf(format string, args ...any) {
	if l == nil || l.out == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%6.1fs  %s\n", time.Since(l.start).Seconds(), fmt.Sprintf(format, args...))
}

// Step is one step of a sequence.
type Step struct {
	// Name says what is being done, such as "start etcd".
	Name string
	Do   func(ctx context.Context) error
}

// Run does steps in order, one line each, and stops at the first error, which says which step it was.
func (l *Log) Run(ctx context.Context, steps []Step) error {
	for _, step := range steps {
		started := time.Now()
		if err := step.Do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.Name, err)
		}
		l.Printf("%s (%.1f s)", step.Name, time.Since(started).Seconds())
	}
	return nil
}
