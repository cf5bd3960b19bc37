package simulator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// task is a worker: something that goes on after its call was answered.
//
// Its work runs with the server's lock held, like a handler's; only while it sleeps, or talks to a guest, others get the
// lock. With a profile that takes no time a task has therefore ended before its call is answered.
type task struct {
	s          *state
	upid       string
	node, kind string
	id         string
	user       string
	token      string
	pid        int
	pstart     int64
	started    time.Time
	ended      time.Time
	exit       string
	lines      []string

	ctx    context.Context
	abort  context.CancelCauseFunc
	yield  func() // hands the lock to the call that waits for the task's start
	warned int
}

var errInterrupted = errors.New("interrupted by signal")

// work is what a task does. It returns the error that becomes its exit status.
type work func(t *task) error

// fork starts a task on a node and returns its UPID. It must be called with the lock held, which it still holds when
// it returns. Source of the UPID's form: pve-common src/PVE/UPID.pm.
func (c *call) fork(node, kind, id string, w work) string {
	return c.s.fork(c, node, kind, id, w)
}

func (s *state) fork(c *call, node, kind, id string, w work) string {
	s.pids++
	now := s.now()
	t := &task{s: s, node: node, kind: kind, id: id, pid: s.pids, started: now, pstart: int64(s.pids)*7 + 100000, user: "root@pam"}
	exit := ""
	if c != nil {
		t.user, t.token = c.user, c.token
		if c.fault != nil {
			exit = c.fault.TaskExit
		}
	}
	owner := t.user
	if t.token != "" {
		owner += "!" + t.token
	}
	t.upid = fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", node, t.pid, t.pstart, now.Unix(), kind, id, owner)
	t.ctx, t.abort = context.WithCancelCause(s.ctx)
	s.tasks = append(s.tasks, t)
	s.taskByID[t.upid] = t
	if exit != "" {
		w = failing(exit, c.giveUp)
	}
	s.start(t, w)
	return t.upid
}

// failing is work that goes wrong before it has any effect. What its call reserved for it is given back, as by the work
// itself.
func failing(exit string, giveUp func()) work {
	return func(t *task) error {
		err := t.busy()
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
func (s *state) start(t *task, w work) {
	ready := make(chan struct{})
	released := false
	t.yield = func() {
		if !released {
			released = true
			close(ready)
			return
		}
		s.mu.Unlock()
	}
	s.workers.Add(1)
	go func() {
		defer s.workers.Done()
		t.end(w(t))
		t.yield()
		s.tell()
	}()
	<-ready
}

// end records how the work ended.
func (t *task) end(err error) {
	t.ended = t.s.now()
	switch {
	case err != nil:
		t.exit = strings.ReplaceAll(flat(err), "\n", " ")
		t.lines = append(t.lines, "TASK ERROR: "+flat(err))
	case t.warned > 0:
		t.exit = fmt.Sprintf("WARNINGS: %d", t.warned)
		t.lines = append(t.lines, "TASK WARNINGS: "+fmt.Sprint(t.warned))
	default:
		t.exit = "OK"
		t.lines = append(t.lines, "TASK OK")
	}
	t.abort(nil)
	t.s.log.Debug("task ended", "upid", t.upid, "exitstatus", t.exit)
}

// sleep lets time pass by the server's clock. It returns an error if the task is stopped meanwhile.
func (t *task) sleep(d time.Duration) error {
	if d <= 0 {
		return t.interrupted()
	}
	timer := t.s.clock.NewTimer(d)
	defer timer.Stop()
	t.outside(func() {
		select {
		case <-timer.C():
		case <-t.ctx.Done():
		}
	})
	return t.interrupted()
}

func (t *task) interrupted() error {
	if t.ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// outside runs f without the lock; the call that started the task is answered meanwhile.
func (t *task) outside(f func()) {
	t.yield()
	f()
	t.s.mu.Lock()
}

// ask runs f, which asks a guest, without the lock. A task that has taken no time yet keeps its call waiting meanwhile.
func (t *task) ask(f func()) {
	t.s.mu.Unlock()
	f()
	t.s.mu.Lock()
}

// busy is the time that a task of its kind takes.
func (t *task) busy() error { return t.sleep(t.s.profile.task(t.kind)) }

// say adds a line to the task's log.
func (t *task) say(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// owner is the user or token that started the task.
func (t *task) owner() string {
	if t.token != "" {
		return t.user + "!" + t.token
	}
	return t.user
}
