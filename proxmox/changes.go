package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// Changes make, change, move and remove VMs. What gives a task has only begun when it answers: wait with Tasks. For a
// VM that the HA manager looks after, starting, stopping and moving end as soon as the manager has noted the wish.
type Changes interface {
	// Create makes a VM on a node; Exists when a guest has the VMID. The options are the API's parameters, such as
	// name, pool, tags, memory.
	Create(ctx context.Context, node string, vmid int, options MachineConfig) (UPID, error)
	// Configure sets options and removes others at once. Of a VM that runs, some count from its next start. An
	// unusedN that is removed takes its volume with it.
	Configure(ctx context.Context, vmid int, set MachineConfig, remove ...string) error
	// Delete removes a VM that is stopped, with all volumes that bear its VMID on the storages that its node reaches,
	// those included that no configuration names. It is InUse while it runs and while HA looks after it, NotFound
	// when it is gone.
	Delete(ctx context.Context, vmid int) (UPID, error)
	// Start switches a VM on.
	Start(ctx context.Context, vmid int) (UPID, error)
	// Stop switches a VM off, without asking its operating system.
	Stop(ctx context.Context, vmid int) (UPID, error)
	// Migrate moves a VM to another node, while it runs if it does.
	Migrate(ctx context.Context, vmid int, to string) (UPID, error)
}

// Changes make, change, move and remove VMs.
func (c *Client) Changes() Changes { return changes{client: c, machines: machines{c}} }

type changes struct {
	client   *Client
	machines machines
}

func (c changes) Create(ctx context.Context, node string, vmid int, options MachineConfig) (UPID, error) {
	params := options.params()
	params["vmid"] = vmid
	task, err := c.client.task(ctx, "/nodes/"+url.PathEscape(node)+"/qemu", params)
	if err != nil {
		return UPID{}, fmt.Errorf("create VM %d on node %s: %w", vmid, node, err)
	}
	return task, nil
}

func (c changes) Configure(ctx context.Context, vmid int, set MachineConfig, remove ...string) error {
	params := set.params()
	if len(remove) > 0 {
		params["delete"] = strings.Join(remove, ",")
	}
	_, err := c.machines.onNode(ctx, vmid, func(base string) error { return c.client.put(ctx, base+"/config", params) })
	if err != nil {
		return fmt.Errorf("configure VM %d: %w", vmid, err)
	}
	return nil
}

func (c changes) Delete(ctx context.Context, vmid int) (UPID, error) {
	return c.do(ctx, "delete", vmid, query("destroy-unreferenced-disks", "1"), nil)
}

func (c changes) Start(ctx context.Context, vmid int) (UPID, error) {
	return c.do(ctx, "start", vmid, "/status/start", map[string]any{})
}

func (c changes) Stop(ctx context.Context, vmid int) (UPID, error) {
	return c.do(ctx, "stop", vmid, "/status/stop", map[string]any{})
}

// Migrate asks for a move while running: Proxmox VE moves a stopped VM all the same (qemu-server API2/Qemu.pm).
func (c changes) Migrate(ctx context.Context, vmid int, to string) (UPID, error) {
	return c.do(ctx, "move", vmid, "/migrate", map[string]any{"target": to, "online": 1})
}

// do calls below the VM's path. A VM that moved in between was not found, so that asking on its new node repeats
// nothing.
func (c changes) do(ctx context.Context, verb string, vmid int, below string, params map[string]any) (UPID, error) {
	var task UPID
	_, err := c.machines.onNode(ctx, vmid, func(base string) (err error) {
		task, err = c.client.task(ctx, base+below, params)
		return err
	})
	if err != nil {
		return UPID{}, fmt.Errorf("%s VM %d: %w", verb, vmid, err)
	}
	return task, nil
}

func (c MachineConfig) params() map[string]any {
	params := make(map[string]any, len(c)+1)
	for name, value := range c {
		params[name] = value
	}
	return params
}
