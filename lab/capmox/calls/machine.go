package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CloudInitTag marks a VM that has its ISO in.
const CloudInitTag = "go-proxmox+cloud-init"

// ErrVMIDFree says that there is no VM with the VMID.
var ErrVMIDFree = errors.New("VMID is free")

// VM is a VM as of one look.
type VM struct {
	Node   string
	ID     int64
	Name   string
	Status string // running or stopped
	QMP    string // QEMU's own state; empty when not told
	Lock   string
	Config Config
	tags   []string // nil until they are looked at
}

// Config is a VM's configuration; numbers are kept as their digits.
type Config map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (c *Config) UnmarshalJSON(b []byte) error {
	raw := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return err
	}
	*c = make(Config, len(raw))
	for k, v := range raw {
		if v != nil {
			(*c)[k] = fmt.Sprint(v)
		}
	}
	return nil
}

// Nets returns the network cards by name.
func (c Config) Nets() map[string]string {
	nets := map[string]string{}
	for k, v := range c {
		if n, ok := strings.CutPrefix(k, "net"); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			nets[k] = v
		}
	}
	return nets
}

// Running says whether the VM runs and QEMU says so too.
func (v *VM) Running() bool { return v.Status == "running" && (v.QMP == "" || v.QMP == "running") }

// Paused says whether the VM is paused.
func (v *VM) Paused() bool { return v.Status == "running" && v.QMP == "paused" }

// Stopped says whether the VM is off, hibernated or not.
func (v *VM) Stopped() bool { return v.Status == "stopped" }

// Tags returns the VM's tags; they are split once, so that an added one is seen.
func (v *VM) Tags() []string {
	if v.tags == nil {
		v.tags = strings.Split(v.Config["tags"], ";")
	}
	return v.tags
}

// HasTag says whether the VM has a tag.
func (v *VM) HasTag(tag string) bool {
	return v.Config["tags"] != "" && slices.Contains(v.Tags(), tag)
}

// VM reads a VM from the node it is believed to be on.
func (c *Client) VM(ctx context.Context, node string, id int64) (*VM, error) {
	if _, err := c.askNode(ctx, node); err != nil {
		return nil, err
	}
	vm, err := c.readVM(ctx, node, id)
	if err != nil {
		return nil, fmt.Errorf("cannot find vm with id %d: %w", id, err)
	}
	return vm, nil
}

func (c *Client) readVM(ctx context.Context, node string, id int64) (*VM, error) {
	vm := &VM{Node: node, ID: id}
	var status struct {
		Name   string `json:"name"`
		Status string `json:"status"`
		QMP    string `json:"qmpstatus"`
		Lock   string `json:"lock"`
	}
	if err := c.get(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/status/current", node, id), &status); err != nil {
		return nil, err
	}
	if err := c.get(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/config", node, id), &vm.Config); err != nil {
		return nil, err
	}
	vm.Name, vm.Status, vm.QMP, vm.Lock = status.Name, status.Status, status.QMP, status.Lock
	return vm, nil
}

// Configure changes a VM's configuration in a task.
func (c *Client) Configure(ctx context.Context, vm *VM, options map[string]any) (UPID, error) {
	var task UPID
	err := c.post(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/config", vm.Node, vm.ID), options, &task)
	return task, err
}

// AddTag adds a tag in a task; with the tag there already it does nothing and returns no task.
func (c *Client) AddTag(ctx context.Context, vm *VM, tag string) (UPID, error) {
	if vm.HasTag(tag) {
		return "", nil
	}
	return c.setTags(ctx, vm, append(vm.Tags(), tag))
}

func (c *Client) setTags(ctx context.Context, vm *VM, tags []string) (UPID, error) {
	vm.tags = tags
	vm.Config["tags"] = strings.Join(tags, ";")
	return c.Configure(ctx, vm, map[string]any{"tags": vm.Config["tags"]})
}

// Resize grows a disk; the task is not followed.
func (c *Client) Resize(ctx context.Context, vm *VM, disk, size string) error {
	return c.put(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/resize", vm.Node, vm.ID), map[string]string{"disk": disk, "size": size}, new(UPID))
}

// Power sends start, resume or stop.
func (c *Client) Power(ctx context.Context, vm *VM, verb string) (UPID, error) {
	var task UPID
	err := c.post(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/status/%s", vm.Node, vm.ID, verb), nil, &task)
	return task, err
}

// Delete stops a VM without waiting, takes its ISO away and deletes it without following the task. When
// there is no such VM the error is ErrVMIDFree, or contains "does not exist".
func (c *Client) Delete(ctx context.Context, node string, id int64) error {
	if id < 100 {
		return fmt.Errorf("vm with id %d does not exist", id)
	}
	if _, err := c.askNode(ctx, node); err != nil {
		return err
	}
	free, err := c.Free(ctx, id)
	if free {
		return ErrVMIDFree
	}
	if err != nil {
		return err
	}
	vm, err := c.readVM(ctx, node, id)
	if err != nil {
		return fmt.Errorf("cannot find vm with id %d: %w", id, err)
	}
	if vm.Running() {
		if _, err := c.Power(ctx, vm, "stop"); err != nil {
			return fmt.Errorf("cannot stop vm id %d: %w", id, err)
		}
	}
	if err := c.removeISO(ctx, vm); err != nil {
		return fmt.Errorf("cannot delete vm with id %d: %w", id, err)
	}
	if err := c.delete(ctx, fmt.Sprintf("/nodes/%s/qemu/%d", node, id), new(UPID)); err != nil {
		return fmt.Errorf("cannot delete vm with id %d: %w", id, err)
	}
	return nil
}
