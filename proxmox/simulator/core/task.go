package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Task is a worker: something that goes on after its call was answered.
//
// Its work runs with the server's lock held, like a handler's; only while it sleeps, or talks to a guest, others get the
// lock. With a profile that takes no time a task has therefore ended before its call is answered.
type Task struct {
	State      *State
	UPID       string
	Node, Kind string
	ID         string
	User       string
	Token      string
	PID        int
	PStart     int64
	Started    time.Time
	Ended      time.Time
	Exit       string
	Lines      []string

	Context context.Context
	Abort   context.CancelCauseFunc
	yield   func() // hands the lock to the call that waits for the task's start
	warned  int
}

// ErrInterrupted is how a task ends that was stopped.
var ErrInterrupted = errors.New("interrupted by signal")

// work is what a task does. It returns the error that becomes its exit status.
type work func(t *Task) error

// Fork starts a task on a node and returns its UPID. It must be called with the lock held, which it still holds when
// it returns. Source of the UPID's form: pve-common src/PVE/UPID.pm.
func (c *Call) Fork(node, kind, id string, w work) string {
	return c.State.Fork(c, node, kind, id, w)
}

// Fork is Call.Fork; without a call the task is root@pam's.
func (s *State) Fork(c *Call, node, kind, id string, w work) string {
	s.PIDs++
	now := s.Now()
	t := &Task{State: s, Node: node, Kind: kind, ID: id, PID: s.PIDs, Started: now, PStart: int64(s.PIDs)*7 + 100000, User: "root@pam"}
	exit := ""
	if c != nil {
		t.User, t.Token = c.User, c.Token
		if c.Fault != nil {
			exit = c.Fault.TaskExit
		}
	}
	owner := t.User
	if t.Token != "" {
		owner += "!" + t.Token
	}
	t.UPID = fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", node, t.PID, t.PStart, now.Unix(), kind, id, owner)
	t.Context, t.Abort = context.WithCancelCause(s.Context)
	s.Tasks = append(s.Tasks, t)
	s.TaskByID[t.UPID] = t
	if exit != "" {
		w = failing(exit, c.GiveUp)
	}
	s.start(t, w)
	return t.UPID
}

// failing is work that goes wrong before it has any effect. What its call reserved for it is given back, as by the work
// itself.
func failing(exit string, giveUp func()) work {
	return func(t *Task) error {
		err := t.Busy()
		if giveUp != nil {
			giveUp()
		}
		if err != nil {
			return err
		}
		return errors.New(exit)
	}
}

// start runs the work until it ends or sleeps for the first time.
func (s *State) start(t *Task, w work) {
	ready := make(chan struct{})
	released := false
	t.yield = func() {
		if !released {
			released = true
			close(ready)
			return
		}
		s.Mu.Unlock()
	}
	s.Workers.Add(1)
	go func() {
		defer s.Workers.Done()
		t.end(w(t))
		t.yield()
		s.tell()
	}()
	<-ready
}

// end records how the work ended.
func (t *Task) end(err error) {
	t.Ended = t.State.Now()
	switch {
	case err != nil:
		t.Exit = strings.ReplaceAll(Flat(err), "\n", " ")
		t.Lines = append(t.Lines, "TASK ERROR: "+Flat(err))
	case t.warned > 0:
		t.Exit = fmt.Sprintf("WARNINGS: %d", t.warned)
		t.Lines = append(t.Lines, "TASK WARNINGS: "+fmt.Sprint(t.warned))
	default:
		t.Exit = "OK"
		t.Lines = append(t.Lines, "TASK OK")
	}
	t.Abort(nil)
	t.State.Log.Debug("task ended", "upid", t.UPID, "exitstatus", t.Exit)
}

// Sleep lets time pass by the server's clock. It returns an error if the task is stopped meanwhile.
func (t *Task) Sleep(d time.Duration) error {
	if d <= 0 {
		return t.interrupted()
	}
	timer := t.State.Clock.NewTimer(d)
	defer timer.Stop()
	t.Outside(func() {
		select {
		case <-timer.C():
		case <-t.Context.Done():
		}
	})
	return t.interrupted()
}

func (t *Task) interrupted() error {
	if t.Context.Err() != nil {
		return ErrInterrupted
	}
	return nil
}

// Outside runs f without the lock; the call that started the task is answered meanwhile.
func (t *Task) Outside(f func()) {
	t.yield()
	f()
	t.State.Mu.Lock()
}

// Ask runs f, which asks a guest, without the lock. A task that has taken no time yet keeps its call waiting meanwhile.
func (t *Task) Ask(f func()) {
	t.State.Mu.Unlock()
	f()
	t.State.Mu.Lock()
}

// Busy is the time that a task of its kind takes.
func (t *Task) Busy() error { return t.Sleep(t.State.Profile.task(t.Kind)) }

// Say adds a line to the task's log.
func (t *Task) Say(format string, args ...any) {
	t.Lines = append(t.Lines, fmt.Sprintf(format, args...))
}

// Owner is the user or token that started the task.
func (t *Task) Owner() string {
	if t.Token != "" {
		return t.User + "!" + t.Token
	}
	return t.User
}
