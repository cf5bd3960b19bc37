package access_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	pve "github.com/luthermonson/go-proxmox"
)

// plugin makes the calls of the Proxmox CSI plugin (0.19) and of the Proxmox cloud controller manager, with a
// cluster's token.
type plugin struct{ api *pve.Client }

func itoa(n int) string { return strconv.Itoa(n) }

func vmPath(vmid int) string { return fmt.Sprintf("/nodes/pve1/qemu/%d", vmid) }

// status is how both look at a machine.
func (p *plugin) status(ctx context.Context, vmid int) error {
	return p.api.Get(ctx, vmPath(vmid)+"/status/current", new(any))
}

// list is how both find their machines.
func (p *plugin) list(ctx context.Context, vmid int) error {
	return p.inResources(ctx, "vm", func(r map[string]any) bool { return r["vmid"] == float64(vmid) })
}

// storage is how the CSI plugin finds a storage.
func (p *plugin) storage(ctx context.Context, name string) error {
	return p.inResources(ctx, "storage", func(r map[string]any) bool { return r["storage"] == name })
}

func (p *plugin) inResources(ctx context.Context, kind string, is func(map[string]any) bool) error {
	var rows []map[string]any
	if err := p.api.Get(ctx, "/cluster/resources?type="+kind, &rows); err != nil {
		return err
	}
	for _, r := range rows {
		if is(r) {
			return nil
		}
	}
	return errNotShown
}

// allocate makes a volume.
func (p *plugin) allocate(ctx context.Context, storage string, vmid int, name string) error {
	params := map[string]any{"vmid": vmid, "node": "pve1", "storage": storage, "filename": name, "size": "1048576"}
	return p.api.Post(ctx, "/nodes/pve1/storage/"+storage+"/content", params, new(string))
}

// volume looks for a volume among the storage's content.
func (p *plugin) volume(ctx context.Context, storage, id string) error {
	var rows []map[string]any
	if err := p.api.Get(ctx, "/nodes/pve1/storage/"+storage+"/content", &rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r["volid"] == id {
			return nil
		}
	}
	return errNotShown
}

// attach gives a volume to a machine.
func (p *plugin) attach(ctx context.Context, vmid int, volume string) error {
	var task pve.UPID
	err := p.api.Post(ctx, vmPath(vmid)+"/config", map[string]any{"scsi1": volume + ",backup=0,iothread=1,wwn=0x5056432d49443031"}, &task)
	return p.wait(ctx, task, err)
}

// detach takes what is attached as scsi1 from a machine.
func (p *plugin) detach(ctx context.Context, vmid int, device string) error {
	return p.api.Put(ctx, vmPath(vmid)+"/unlink", map[string]any{"idlist": device}, nil)
}

// remove deletes a volume through its storage, which is what the plugin does when nobody did it before.
func (p *plugin) remove(ctx context.Context, storage, id string) error {
	var task pve.UPID
	err := p.api.Delete(ctx, "/nodes/pve1/storage/"+storage+"/content/"+id, &task)
	return p.wait(ctx, task, err)
}

func (p *plugin) wait(ctx context.Context, upid pve.UPID, err error) error {
	if err != nil {
		return err
	}
	for {
		var task struct{ Status, Exitstatus string }
		if err := p.api.Get(ctx, "/nodes/pve1/tasks/"+string(upid)+"/status", &task); err != nil {
			return err
		}
		if task.Status == "stopped" && task.Exitstatus != "OK" {
			return errors.New(task.Exitstatus)
		}
		if task.Status == "stopped" {
			return nil
		}
	}
}
