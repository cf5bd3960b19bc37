package csi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	pve "github.com/luthermonson/go-proxmox"

	"kubehenge.dev/agent/volumes"
)

// storage is a storage as the plugin reads it.
type storage struct {
	Name    string `json:"storage"`
	Node    string `json:"node"`
	Type    string `json:"plugintype"`
	Status  string `json:"status"`
	Content string `json:"content"`
	Shared  int    `json:"shared"`
}

// errNoStorage is a storage that no node has available.
var errNoStorage = errors.New("not found")

// storages are the rows, one a node, of a storage that is available; of all for an empty name. The plugin asks this way,
// since a storage's definition takes Datastore.Allocate to read.
func (p *Player) storages(ctx context.Context, name string) ([]storage, error) {
	var rows []storage
	if err := p.session.API.Get(ctx, "/cluster/resources?type=storage", &rows); err != nil {
		return nil, fmt.Errorf("list storages: %w", err)
	}
	return slices.DeleteFunc(rows, func(s storage) bool { return s.Status != "available" || name != "" && s.Name != name }), nil
}

// defaultStorage is the storage of the StorageClass: a shared one for disks, before a local one.
func (p *Player) defaultStorage(ctx context.Context) (string, error) {
	rows, err := p.storages(ctx, "")
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(rows, func(a, b storage) int { return 10*(b.Shared-a.Shared) + strings.Compare(a.Name, b.Name) })
	for _, s := range rows {
		if slices.Contains(strings.Split(s.Content, ","), "images") {
			return s.Name, nil
		}
	}
	return "", fmt.Errorf("a storage for disks: %w", errNoStorage)
}

// exists says whether a node sees a volume.
func (p *Player) exists(ctx context.Context, node string, h volumes.Handle) (bool, error) {
	var rows []struct {
		ID string `json:"volid"`
	}
	if err := p.session.API.Get(ctx, contentPath(node, h.Storage), &rows); err != nil {
		return false, fmt.Errorf("list the volumes of storage %s on node %s: %w", h.Storage, node, err)
	}
	for _, row := range rows {
		if row.ID == h.ID() {
			return true, nil
		}
	}
	return false, nil
}

func contentPath(node, storage string) string {
	return "/nodes/" + node + "/storage/" + storage + "/content"
}

// create allocates a volume. The plugin repeats node and storage in the body.
func (p *Player) create(ctx context.Context, node string, h volumes.Handle, bytes int64) error {
	var id string
	err := p.session.API.Post(ctx, contentPath(node, h.Storage), map[string]any{
		"vmid": h.VMID, "node": node, "storage": h.Storage, "filename": h.Disk[strings.LastIndexByte(h.Disk, '/')+1:],
		"size": strconv.FormatInt(bytes>>10, 10),
	}, &id)
	if err != nil {
		return fmt.Errorf("failed to create vm disk: %w", err)
	}
	return nil
}

// remove deletes a volume through its storage, which Proxmox VE refuses without Datastore.Allocate.
func (p *Player) remove(ctx context.Context, node string, h volumes.Handle) error {
	var task pve.UPID
	if err := p.session.API.Delete(ctx, contentPath(node, h.Storage)+"/"+h.Disk, &task); err != nil {
		return fmt.Errorf("failed to delete volume: %s, %w", h.Disk, err)
	}
	return p.wait(ctx, task)
}

// scsi are the disks of a VM that volumes can be, by option.
func scsi(config map[string]any) map[string]string {
	disks := map[string]string{}
	for lun := range 31 {
		name := "scsi" + strconv.Itoa(lun)
		if value, ok := config[name].(string); ok {
			disks[name] = value
		}
	}
	return disks
}

// lunOf is the option that names a disk.
func lunOf(disks map[string]string, disk string) (string, bool) {
	for name, value := range disks {
		if strings.Contains(value, disk) {
			return name, true
		}
	}
	return "", false
}

// attach puts a volume on the first free of scsi1 to scsi29.
func (p *Player) attach(ctx context.Context, vm machine, h volumes.Handle) error {
	config, err := p.session.Config(ctx, vm)
	if err != nil {
		return err
	}
	disks := scsi(config)
	if _, there := lunOf(disks, h.Disk); there {
		return nil
	}
	for lun := 1; lun < 30; lun++ {
		name := "scsi" + strconv.Itoa(lun)
		if disks[name] != "" {
			continue
		}
		value := fmt.Sprintf("%s,backup=0,iothread=1,wwn=0x%x", h.ID(), fmt.Sprintf("PVC-ID%02d", lun))
		var task pve.UPID
		if err := p.session.API.Post(ctx, vmPath(vm)+"/config", map[string]any{name: value}, &task); err != nil {
			return fmt.Errorf("unable to attach disk: %w", err)
		}
		return p.wait(ctx, task)
	}
	return errors.New("no free lun found")
}

// detach takes a volume off; it stays where it is.
func (p *Player) detach(ctx context.Context, vm machine, h volumes.Handle) error {
	config, err := p.session.Config(ctx, vm)
	if err != nil {
		return err
	}
	name, there := lunOf(scsi(config), h.Disk)
	if !there {
		return nil
	}
	if err := p.session.API.Put(ctx, vmPath(vm)+"/unlink", map[string]any{"idlist": name}, nil); err != nil {
		return fmt.Errorf("failed to unlink disk: %w", err)
	}
	return nil
}

func vmPath(vm machine) string { return fmt.Sprintf("/nodes/%s/qemu/%d", vm.Node, vm.VMID) }

// Waiting for a task: how often it is looked at, and how long.
const (
	taskPoll    = 200 * time.Millisecond
	taskTimeout = 5 * time.Minute
)

// wait waits until a task ends; "" is none.
func (p *Player) wait(ctx context.Context, id pve.UPID) error {
	if id == "" {
		return nil
	}
	task := pve.NewTask(id, p.session.API)
	if err := task.Wait(ctx, taskPoll, taskTimeout); err != nil {
		return fmt.Errorf("wait for task %s: %w", task.Type, err)
	}
	if task.IsFailed {
		return fmt.Errorf("task %s: %s", task.Type, task.ExitStatus)
	}
	return nil
}
