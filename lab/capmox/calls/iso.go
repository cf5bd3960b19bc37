package calls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// isoDevice is the drive the ISO goes into.
const isoDevice = "ide0"

// errNoISOStorage has go-proxmox's text for "no storage for ISOs": people meet it in conditions.
var errNoISOStorage = errors.New("unable to find the item you are looking for")

// ErrUploadRefused says that the token may not upload. go-proxmox 0.8.0 takes such an answer for a success
// without a task and panics on the missing task, which controller-runtime recovers: the machine stays in
// its stage and is tried again, where any other error of Insert ends it for good.
var ErrUploadRefused = errors.New("upload refused: not authorized to access endpoint")

type storage struct {
	Name    string `json:"storage"`
	Content string `json:"content"`
	Enabled int    `json:"enabled"`
}

func (s storage) takesISO() bool { return s.Enabled != 0 && strings.Contains(s.Content, "iso") }

func isoName(vm *VM) string { return fmt.Sprintf("user-data-%d.iso", vm.ID) }

// Insert uploads an ISO to the first storage of the VM's node that takes ISOs, marks the VM and puts the
// ISO into its drive.
func (c *Client) Insert(ctx context.Context, vm *VM, iso []byte) error {
	if err := c.askNodeKindly(ctx, vm.Node); err != nil {
		return err
	}
	name, err := c.isoStorage(ctx, vm.Node)
	if err != nil {
		return err
	}
	task, err := c.upload(ctx, vm, name, iso)
	if err != nil {
		return err
	}
	if err := c.waitFor(ctx, task, 5*time.Second); err != nil {
		return err
	}
	if _, err := c.AddTag(ctx, vm, CloudInitTag); err != nil {
		return err
	}
	task, err = c.Configure(ctx, vm, map[string]any{
		isoDevice: fmt.Sprintf("%s:iso/%s,media=cdrom", name, isoName(vm)),
		"boot":    fmt.Sprintf("%s;%s", vm.Config["boot"], isoDevice),
	})
	if err != nil {
		return err
	}
	return c.waitFor(ctx, task, 2*time.Second)
}

func (c *Client) storages(ctx context.Context, node string) ([]storage, error) {
	var all []storage
	err := c.get(ctx, fmt.Sprintf("/nodes/%s/storage", node), &all)
	return all, err
}

func (c *Client) isoStorage(ctx context.Context, node string) (string, error) {
	all, err := c.storages(ctx, node)
	if err != nil {
		return "", err
	}
	for _, s := range all {
		if s.takesISO() {
			return s.Name, nil
		}
	}
	return "", errNoISOStorage
}

func (c *Client) upload(_ context.Context, vm *VM, storage string, iso []byte) (UPID, error) {
	var task UPID
	err := asBefore(c.api.UploadReader(fmt.Sprintf("/nodes/%s/storage/%s/upload", vm.Node, storage),
		map[string]string{"content": "iso"}, isoName(vm), bytes.NewReader(iso), int64(len(iso)), &task))
	if errors.Is(err, errNotAuthorized) {
		err = ErrUploadRefused
	}
	return task, err
}

// Eject takes the ISO out of the drive, deletes it and takes the mark off; a VM without the mark is left alone.
func (c *Client) Eject(ctx context.Context, vm *VM) error {
	if !vm.HasTag(CloudInitTag) {
		return nil
	}
	if _, err := c.Configure(ctx, vm, map[string]any{isoDevice: "none,media=cdrom"}); err != nil {
		return fmt.Errorf("unable to unmount cloud-init iso: %w", err)
	}
	if err := c.removeISO(ctx, vm); err != nil {
		return fmt.Errorf("unable to unmount cloud-init iso: %w", err)
	}
	var rest []string
	for _, t := range vm.Tags() {
		if t != CloudInitTag {
			rest = append(rest, t)
		}
	}
	_, err := c.setTags(ctx, vm, rest)
	return err
}

// removeISO deletes the ISO from the first storage that has it; an ISO that is nowhere is fine.
func (c *Client) removeISO(ctx context.Context, vm *VM) error {
	if !vm.HasTag(CloudInitTag) {
		return nil
	}
	if err := c.askNodeKindly(ctx, vm.Node); err != nil {
		return err
	}
	all, err := c.storages(ctx, vm.Node)
	if err != nil {
		return err
	}
	for _, s := range all {
		if !s.takesISO() {
			continue
		}
		path := fmt.Sprintf("/nodes/%s/storage/%s/content/%s:iso/%s", vm.Node, s.Name, s.Name, isoName(vm))
		if err := c.get(ctx, path, new(any)); err != nil {
			continue // not on this storage
		}
		var task UPID
		if err := c.delete(ctx, path, &task); err != nil {
			return err
		}
		return c.waitFor(ctx, task, 5*time.Second)
	}
	return nil
}
