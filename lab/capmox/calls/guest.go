package calls

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrCloudInitFailed says that cloud-init ended with an error; degraded counts as one.
var ErrCloudInitFailed = errors.New("cloud-init failed execution")

// WaitForAgent asks the guest agent once a second, for five seconds, until it answers. Only "not running"
// is asked again; every other error is returned at once.
func (c *Client) WaitForAgent(ctx context.Context, vm *VM) error {
	end := c.clock.Now().Add(c.pace.Scale(5 * time.Second))
	for {
		var info struct {
			Result *struct{} `json:"result"`
		}
		err := c.get(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/agent/get-osinfo", vm.Node, vm.ID), &info)
		switch {
		case err == nil && info.Result == nil:
			err = errors.New("result is empty")
			return fmt.Errorf("error waiting for agent: %w", err)
		case err == nil:
			return nil
		case !strings.Contains(err.Error(), "500 QEMU guest agent is not running"):
			return fmt.Errorf("error waiting for agent: %w", err)
		case !c.clock.Now().Before(end):
			return fmt.Errorf("error waiting for agent: %w", ErrTimeout)
		}
		if err := c.sleep(ctx, c.pace.TaskPoll()); err != nil {
			return err
		}
	}
}

// CloudInitRunning asks cloud-init in the guest how it is doing.
func (c *Client) CloudInitRunning(ctx context.Context, vm *VM) (bool, error) {
	if err := c.WaitForAgent(ctx, vm); err != nil {
		return false, fmt.Errorf("error waiting for agent: %w", err)
	}
	pid, err := c.exec(ctx, vm, "cloud-init", "status")
	if err != nil {
		return false, fmt.Errorf("unable to get cloud-init status: %w", err)
	}
	s, err := c.waitForExec(ctx, vm, pid)
	switch {
	case err != nil:
		return false, fmt.Errorf("unable to wait for agent exec: %w", err)
	case s.ExitCode != 0:
		return false, ErrCloudInitFailed
	}
	return strings.Contains(s.Out, "running"), nil
}

func (c *Client) exec(ctx context.Context, vm *VM, command ...string) (int, error) {
	var reply struct {
		PID *int `json:"pid"`
	}
	body := map[string]any{"command": command, "input-data": ""}
	// As go-proxmox: without a pid it does not matter why.
	_ = c.post(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/agent/exec", vm.Node, vm.ID), body, &reply)
	if reply.PID == nil {
		return 0, errors.New("no pid returned from agent exec command")
	}
	return *reply.PID, nil
}

type execStatus struct {
	Exited   int    `json:"exited"`
	ExitCode int    `json:"exitcode"`
	Out      string `json:"out-data"`
}

func (c *Client) waitForExec(ctx context.Context, vm *VM, pid int) (execStatus, error) {
	end := c.clock.Now().Add(c.pace.Scale(2 * time.Second))
	for {
		var s execStatus
		if err := c.get(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/agent/exec-status?pid=%d", vm.Node, vm.ID, pid), &s); err != nil {
			return s, err
		}
		if s.Exited != 0 {
			return s, nil
		}
		if !c.clock.Now().Before(end) {
			return s, ErrTimeout
		}
		if err := c.sleep(ctx, c.pace.ExecPoll()); err != nil {
			return s, err
		}
	}
}
