package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Tasks are the operations that Proxmox VE does in the background. A token sees only those it started itself,
// unless it has Sys.Audit on the node.
type Tasks interface {
	// Status is how a task stands.
	Status(ctx context.Context, task UPID) (Task, error)
	// Wait waits until the task ends, and tells progress of every new line of its log. A task that ends with
	// anything but OK or warnings is an Error of kind TaskFailed. progress may be nil.
	Wait(ctx context.Context, task UPID, progress func(Progress)) (Task, error)
}

// Task is how a task stands.
type Task struct {
	// UPID names it.
	UPID UPID
	// Running is false once it ended.
	Running bool
	// Exit is how it ended: OK, "WARNINGS: 2", or the text of the error. Empty while it runs.
	Exit string
}

// Warnings is true for a task that did its work and had something to say. Proxmox VE counts that as success.
func (t Task) Warnings() bool { return strings.HasPrefix(t.Exit, "WARNINGS:") }

// failure is the Error of a task that ended badly.
func (t Task) failure() error {
	if t.Running || t.Exit == "OK" || t.Warnings() {
		return nil
	}
	reason := oneLine(t.Exit)
	if reason == "" {
		reason = "it ended without saying how"
	}
	return &Error{Kind: TaskFailed, Method: "GET", Path: strings.TrimSpace(t.UPID.Type + " " + t.UPID.ID), Reason: reason}
}

// Progress is one new line of a task's log.
type Progress struct {
	// Line is the line.
	Line string
	// Percent is what the line says about completion, from 0 to 100; -1 where it says nothing.
	Percent float64
}

const (
	// firstPoll and slowestPoll bound the pause between two looks at a task.
	firstPoll, slowestPoll = 500 * time.Millisecond, 4 * time.Second
	// patience is how many looks in a row may fail before a wait gives up.
	patience = 5
	// logPage is the number of lines asked for at once.
	logPage = 500
)

// Tasks are the operations that Proxmox VE does in the background.
func (c *Client) Tasks() Tasks { return tasks{c} }

type tasks struct{ client *Client }

func (t tasks) Status(ctx context.Context, task UPID) (Task, error) {
	var row struct {
		Status string `json:"status"`
		Exit   string `json:"exitstatus"`
	}
	if err := t.client.get(ctx, t.path(task)+"/status", &row); err != nil {
		return Task{UPID: task}, fmt.Errorf("read task %s: %w", task, err)
	}
	switch row.Status {
	case "running":
		return Task{UPID: task, Running: true}, nil
	case "stopped":
		return Task{UPID: task, Exit: row.Exit}, nil
	}
	return Task{UPID: task}, &Error{Kind: Unreadable, Method: "GET", Path: t.path(task), Status: 200, Reason: fmt.Sprintf("a task that is %q", oneLine(row.Status))}
}

func (t tasks) Wait(ctx context.Context, task UPID, progress func(Progress)) (Task, error) {
	seen, failures, pause := 0, 0, firstPoll
	for {
		state, err := t.Status(ctx, task)
		if err == nil && progress != nil {
			seen, err = t.follow(ctx, task, seen, progress)
		}
		switch {
		case err == nil && !state.Running:
			return state, state.failure()
		case err == nil:
			failures = 0
		case !Is(err, Transient, Unreadable) || failures >= patience:
			return state, err
		default:
			failures++
		}
		if err := sleep(ctx, t.client.clock, pause); err != nil {
			return state, fmt.Errorf("wait for task %s: %w", task, err)
		}
		pause = min(pause*3/2, slowestPoll)
	}
}

// follow tells the lines of the log that were not told yet, and answers how many are told now.
func (t tasks) follow(ctx context.Context, task UPID, seen int, progress func(Progress)) (int, error) {
	for {
		var lines []struct {
			Number whole  `json:"n"`
			Text   string `json:"t"`
		}
		path := fmt.Sprintf("%s/log?start=%d&limit=%d", t.path(task), seen, logPage)
		if err := t.client.get(ctx, path, &lines); err != nil {
			return seen, fmt.Errorf("read log of task %s: %w", task, err)
		}
		for _, line := range lines {
			// Past its end a log answers with the one line "no content", numbered 1.
			if int(line.Number) <= seen || line.Text == "no content" {
				continue
			}
			seen = int(line.Number)
			progress(Progress{Line: oneLine(line.Text), Percent: percent(line.Text)})
		}
		if len(lines) < logPage {
			return seen, nil
		}
	}
}

func (t tasks) path(task UPID) string {
	return "/nodes/" + task.Node + "/tasks/" + url.PathEscape(task.raw)
}

// percentage is how clone, move and upload tell how far they are: "transferred 1.0 GiB of 4.0 GiB (25.00%)".
var percentage = regexp.MustCompile(`(\d{1,3}(?:\.\d+)?)%`)

func percent(line string) float64 {
	m := percentage.FindStringSubmatch(line)
	if m == nil {
		return -1
	}
	p, err := strconv.ParseFloat(m[1], 64)
	if err != nil || p > 100 {
		return -1
	}
	return p
}
