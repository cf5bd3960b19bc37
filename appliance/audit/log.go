// Package audit answers: who changed what, from where, and who got a secret? One JSON line an event, in a file that is only ever appended to.
package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Event is one line.
type Event struct {
	// Time is when, in UTC.
	Time time.Time `json:"time"`
	// User is user@realm, or user@realm!token; empty where nobody was known.
	User string `json:"user,omitempty"`
	// Session is the session's short name.
	Session string `json:"session,omitempty"`
	// From is the address.
	From string `json:"from,omitempty"`
	// What was done: sign-in, sign-out, commit, push, kubeconfig.
	What string `json:"what"`
	// On is what it was done to, as namespace/name or a branch.
	On string `json:"on,omitempty"`
	// Commit is its 40 digits.
	Commit string `json:"commit,omitempty"`
	// Detail is the commit's subject, or what else says more.
	Detail string `json:"detail,omitempty"`
	// Refused is why it was not done; empty when it was.
	Refused string `json:"refused,omitempty"`
}

// Log is the file of events.
type Log struct {
	path  string
	clock clock.PassiveClock

	mu   sync.Mutex
	file *os.File
}

// Open opens the file or makes it, readable for its owner only.
func Open(path string, c clock.PassiveClock) (*Log, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the audit log: %w", err)
	}
	return &Log{path: path, clock: c, file: f}, nil
}

// maxText is how many characters of one text are kept. What people are called and push may be of any length.
const maxText = 4000

// Write appends an event, with the present time; long texts are cut. Who hands out a secret writes first, and hands out nothing on an error.
func (l *Log) Write(e Event) error {
	e.Time = l.clock.Now().UTC()
	for _, text := range []*string{&e.User, &e.On, &e.Detail, &e.Refused} {
		if r := []rune(*text); len(r) > maxText {
			*text = string(r[:maxText-3]) + "..."
		}
	}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write to the audit log: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write to the audit log: %w", err)
	}
	return nil
}

// Last are the newest events, up to so many, the newest first. A line that a crash cut off is left out, and so is what no event can be so long as.
func (l *Log) Last(most int) ([]Event, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	defer func() { _ = f.Close() }() // it was read only
	return last(f, most)
}

func last(from io.Reader, most int) ([]Event, error) {
	var ring []Event
	lines := bufio.NewReaderSize(from, 64<<10)
	for {
		line, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read the audit log: %w", err)
		}
		for long := more; long && err == nil; { // the rest of what is too long
			line = nil
			_, long, err = lines.ReadLine()
		}
		var e Event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if ring = append(ring, e); len(ring) > 2*most {
			ring = append(ring[:0], ring[len(ring)-most:]...)
		}
	}
	list := make([]Event, 0, min(most, len(ring)))
	for i := len(ring) - 1; i >= 0 && len(list) < most; i-- {
		list = append(list, ring[i])
	}
	return list, nil
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
