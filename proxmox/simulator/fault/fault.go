package fault

import (
	"fmt"
	"regexp"
	"sync"
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

	// Effect happens to the cluster just before the call is looked at, such as "node-off pve3"; see Effects. Without
	// anything else the call is then carried out.
	Effect string
}

// rule is a fault that was added, with its compiled path and its counters.
type rule struct {
	Fault
	path  *regexp.Regexp
	seen  int
	ended bool
}

// Rules are the faults in force. The zero value has none; it is safe for concurrent use.
type Rules struct {
	mu   sync.Mutex
	list []*rule
}

// Check tells what is wrong with a fault.
func Check(f Fault) error {
	_, err := newRule(f)
	return err
}

func newRule(f Fault) (*rule, error) {
	path, err := regexp.Compile(f.Path)
	if err != nil {
		return nil, fmt.Errorf("path of fault: %w", err)
	}
	if f.Effect != "" {
		if _, err := ParseEffect(f.Effect); err != nil {
			return nil, err
		}
	}
	return &rule{Fault: f, path: path}, nil
}

// Add adds a fault and returns a function that takes it away again. Faults are asked in the order in which they were
// added, the first match counts.
func (r *Rules) Add(f Fault) (remove func(), err error) {
	added, err := newRule(f)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, added)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		added.ended = true
	}, nil
}

// Clear takes all faults away.
func (r *Rules) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = nil
}

// Active are the faults that may still match.
func (r *Rules) Active() []Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Fault
	for _, x := range r.list {
		if !x.ended {
			list = append(list, x.Fault)
		}
	}
	return list
}

// Match returns the first fault that matches a call, nil if none does, and counts.
func (r *Rules) Match(who, method, path string, now time.Time) *Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.list {
		if !x.matches(who, method, path, now) {
			continue
		}
		x.seen++
		if x.seen <= x.Skip {
			continue
		}
		if x.Times > 0 && x.seen == x.Skip+x.Times {
			x.ended = true
		}
		return &x.Fault
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
