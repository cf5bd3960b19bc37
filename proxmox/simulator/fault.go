package simulator

import (
	"fmt"
	"regexp"
	"time"
)

// Fault makes matching calls, or tasks, go wrong. Empty fields match everything.
type Fault struct {
	Who    string // user or token ID; empty: anybody
	Method string // GET, POST, PUT, DELETE
	Path   string // regular expression over the path below /api2/json, e.g. `/qemu/\d+/clone$`

	Skip  int       // that many matching calls pass first
	Times int       // that many matching calls fail; 0: all
	From  time.Time // by the simulator's clock; zero: at once
	Until time.Time // zero: for ever

	Delay  time.Duration // answer later (the call is then carried out, if no Status is given)
	Status int           // answer with this status instead of carrying the call out
	Reason string        // its reason phrase
	Body   string        // its body; empty stays empty, as for Proxmox VE's 595
	Reset  bool          // close the connection without an answer

	// LockTimeout lets the call, or the task that it starts, wait in vain for the lock of a configuration file.
	LockTimeout bool

	// TaskExit lets the call start its task as usual and ends the task with this text as its exit status, before
	// it has any effect.
	TaskExit string
}

// rule is a fault that was added, with its compiled path and its counters.
type rule struct {
	Fault
	path  *regexp.Regexp
	seen  int
	ended bool
}

// AddFault adds a fault and returns a function that takes it away again. Faults are asked in the order in which they
// were added, the first match counts. It panics if Path is no regular expression.
func (s *Server) AddFault(f Fault) (remove func()) {
	r, err := newRule(f)
	if err != nil {
		panic(err)
	}
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	s.faults = append(s.faults, r)
	return func() {
		s.faultMu.Lock()
		defer s.faultMu.Unlock()
		r.ended = true
	}
}

// ClearFaults takes all faults away.
func (s *Server) ClearFaults() {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	s.faults = nil
}

func newRule(f Fault) (*rule, error) {
	path, err := regexp.Compile(f.Path)
	if err != nil {
		return nil, fmt.Errorf("path of fault: %w", err)
	}
	return &rule{Fault: f, path: path}, nil
}

// fault returns the first rule that matches a call, nil if none does, and counts.
func (s *Server) fault(who, method, path string) *Fault {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	now := s.clock.Now()
	for _, r := range s.faults {
		if !r.matches(who, method, path, now) {
			continue
		}
		r.seen++
		if r.seen <= r.Skip {
			continue
		}
		if r.Times > 0 && r.seen == r.Skip+r.Times {
			r.ended = true
		}
		return &r.Fault
	}
	return nil
}

func (r *rule) matches(who, method, path string, now time.Time) bool {
	return !r.ended &&
		(r.Who == "" || r.Who == who) &&
		(r.Method == "" || r.Method == method) &&
		(r.From.IsZero() || !now.Before(r.From)) &&
		(r.Until.IsZero() || now.Before(r.Until)) &&
		r.path.MatchString(path)
}
