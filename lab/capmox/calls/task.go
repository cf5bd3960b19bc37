package calls

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrTimeout says that a wait inside one call took too long.
var ErrTimeout = errors.New("the operation has timed out")

// UPID is the identifier of a Proxmox VE task: eight parts joined by colons.
type UPID string

func (u UPID) part(i int) string {
	parts := strings.Split(string(u), ":")
	if len(parts) < 8 {
		return ""
	}
	return parts[i]
}

// Node is the node the task runs on; empty when the identifier is broken.
func (u UPID) Node() string { return u.part(1) }

// Kind is what the task does, such as qmclone.
func (u UPID) Kind() string { return u.part(5) }

// Task is a task as of one look.
type Task struct {
	UPID       UPID
	Kind       string
	Status     string // running or stopped
	ExitStatus string
}

// Running says whether the task still runs.
func (t Task) Running() bool { return t.Status != "stopped" }

// Succeeded says whether the task ended with exactly OK; "WARNINGS: 1" counts as failed.
func (t Task) Succeeded() bool { return !t.Running() && t.ExitStatus == "OK" }

// Task looks at a task.
func (c *Client) Task(ctx context.Context, upid UPID) (Task, error) {
	t := Task{UPID: upid, Kind: upid.Kind()}
	var row struct {
		Status     string `json:"status"`
		ExitStatus string `json:"exitstatus"`
		Type       string `json:"type"`
	}
	if err := c.get(ctx, fmt.Sprintf("/nodes/%s/tasks/%s/status", upid.Node(), upid), &row); err != nil {
		return t, fmt.Errorf("cannot get task with UPID %s: %w", upid, err)
	}
	t.Status, t.ExitStatus = row.Status, row.ExitStatus
	if row.Type != "" {
		t.Kind = row.Type
	}
	return t, nil
}

// waitFor looks at a task at least twice (go-proxmox pings once before its loop) until it no longer runs.
// How it ended is not asked.
func (c *Client) waitFor(ctx context.Context, upid UPID, longest time.Duration) error {
	if _, err := c.Task(ctx, upid); err != nil {
		return err
	}
	end := c.clock.Now().Add(c.pace.Scale(longest))
	for {
		if !c.clock.Now().Before(end) {
			return ErrTimeout
		}
		t, err := c.Task(ctx, upid)
		if err != nil {
			return err
		}
		if t.Status != "running" {
			return nil
		}
		if err := c.sleep(ctx, c.pace.TaskPoll()); err != nil {
			return err
		}
	}
}
