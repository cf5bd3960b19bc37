package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Storages are where volumes are.
type Storages interface {
	// List is the definitions of all storages that the caller may see (Datastore.Audit or AllocateSpace).
	List(ctx context.Context) ([]Storage, error)
	// OnNode is the storages of one node with their space; NodeOffline when it is not reachable.
	OnNode(ctx context.Context, node string) ([]Storage, error)
	// Volumes are the volumes that a node sees on a storage and the caller may see: disks need Datastore.Audit there
	// and VM.Config.Disk on their VM, or else Datastore.Allocate. vmid 0 means of all VMs.
	Volumes(ctx context.Context, node, storage string, vmid int) ([]Volume, error)
	// CreateVolume makes a disk for a VM and gives its name; Exists when it is there.
	CreateVolume(ctx context.Context, node, storage string, v NewVolume) (id string, err error)
	// DeleteVolume removes a volume and waits until it is gone. Proxmox VE asks for Datastore.Allocate on the whole
	// storage for it.
	DeleteVolume(ctx context.Context, node, id string) error
}

// Storage is a storage, or what a node has of it.
type Storage struct {
	// Name is its name.
	Name string
	// Type is how it stores: dir, nfs, rbd, lvmthin and so on.
	Type string
	// Shared is true where all nodes see the same volumes.
	Shared bool
	// Active is false while it is switched off, or, on a node, not there.
	Active bool
	// Content is what it may hold: images, iso and so on.
	Content []string
	// Nodes are the nodes that have it; empty means all. Only in definitions.
	Nodes []string
	// TotalBytes and FreeBytes are its space on a node; 0 in definitions and while it is not active.
	TotalBytes, FreeBytes int64
}

// Volume is a volume on a storage.
type Volume struct {
	// ID is its name, storage:name.
	ID string
	// VMID is the VM that it belongs to; 0 for none.
	VMID int
	// SizeBytes is its size.
	SizeBytes int64
	// Format is raw, qcow2, iso and so on.
	Format string
	// Content is images, iso and so on.
	Content string
}

// NewVolume is a disk to be made.
type NewVolume struct {
	// VMID is the VM that it is to belong to.
	VMID int
	// Name is its name on the storage, such as vm-100-data; with its format as ending where the storage holds files.
	Name string
	// SizeBytes is its size; Proxmox VE takes whole KiB, so it is rounded up.
	SizeBytes int64
	// Format is raw, qcow2 and so on; empty means the storage's own.
	Format string
}

// Storages are where volumes are.
func (c *Client) Storages() Storages { return storages{c} }

type storages struct{ client *Client }

func (s storages) List(ctx context.Context) ([]Storage, error) {
	var rows []struct {
		Name    string `json:"storage"`
		Type    string `json:"type"`
		Shared  flag   `json:"shared"`
		Disable flag   `json:"disable"`
		Content string `json:"content"`
		Nodes   string `json:"nodes"`
	}
	if err := s.client.get(ctx, "/storage", &rows); err != nil {
		return nil, fmt.Errorf("list storages: %w", err)
	}
	list := make([]Storage, 0, len(rows))
	for _, r := range rows {
		list = append(list, Storage{Name: r.Name, Type: r.Type, Shared: bool(r.Shared) || alwaysShared[r.Type], Active: !bool(r.Disable),
			Content: splitList(r.Content), Nodes: splitList(r.Nodes)})
	}
	return list, nil
}

// alwaysShared are the types that are shared without saying so in their definition (pve-storage PVE/Storage/Plugin.pm).
var alwaysShared = map[string]bool{"nfs": true, "cifs": true, "pbs": true, "cephfs": true, "rbd": true, "iscsi": true, "iscsidirect": true, "zfs": true, "esxi": true}

func (s storages) OnNode(ctx context.Context, node string) ([]Storage, error) {
	var rows []struct {
		Name    string `json:"storage"`
		Type    string `json:"type"`
		Shared  flag   `json:"shared"`
		Active  flag   `json:"active"`
		Content string `json:"content"`
		Total   whole  `json:"total"`
		Free    whole  `json:"avail"`
	}
	if err := s.client.get(ctx, "/nodes/"+url.PathEscape(node)+"/storage", &rows); err != nil {
		return nil, fmt.Errorf("list storages of node %s: %w", node, err)
	}
	list := make([]Storage, 0, len(rows))
	for _, r := range rows {
		list = append(list, Storage{Name: r.Name, Type: r.Type, Shared: bool(r.Shared), Active: bool(r.Active), Content: splitList(r.Content),
			TotalBytes: int64(r.Total), FreeBytes: int64(r.Free)})
	}
	return list, nil
}

func (s storages) Volumes(ctx context.Context, node, storage string, vmid int) ([]Volume, error) {
	path := contentPath(node, storage)
	if vmid != 0 {
		path += query("vmid", strconv.Itoa(vmid))
	}
	var rows []struct {
		ID      string `json:"volid"`
		VMID    whole  `json:"vmid"`
		Size    whole  `json:"size"`
		Format  string `json:"format"`
		Content string `json:"content"`
	}
	if err := s.client.get(ctx, path, &rows); err != nil {
		return nil, fmt.Errorf("list volumes of storage %s on node %s: %w", storage, node, err)
	}
	list := make([]Volume, 0, len(rows))
	for _, r := range rows {
		list = append(list, Volume{ID: r.ID, VMID: int(r.VMID), SizeBytes: int64(r.Size), Format: r.Format, Content: r.Content})
	}
	return list, nil
}

func (s storages) CreateVolume(ctx context.Context, node, storage string, v NewVolume) (string, error) {
	params := map[string]any{"vmid": v.VMID, "filename": v.Name, "size": strconv.FormatInt((v.SizeBytes+1023)/1024, 10)}
	if v.Format != "" {
		params["format"] = v.Format
	}
	var id string
	if err := s.client.post(ctx, contentPath(node, storage), params, &id); err != nil {
		return "", fmt.Errorf("create volume %s on storage %s of node %s: %w", v.Name, storage, node, err)
	}
	return id, nil
}

func (s storages) DeleteVolume(ctx context.Context, node, id string) error {
	storage, _, found := strings.Cut(id, ":")
	if !found {
		return fmt.Errorf("delete volume: %q is not of the form storage:name", id)
	}
	task, err := s.client.task(ctx, contentPath(node, storage)+"/"+url.PathEscape(id), nil)
	if err == nil {
		_, err = s.client.Tasks().Wait(ctx, task, nil)
	}
	if err != nil {
		return fmt.Errorf("delete volume %s on node %s: %w", id, node, err)
	}
	return nil
}

func contentPath(node, storage string) string {
	return "/nodes/" + url.PathEscape(node) + "/storage/" + url.PathEscape(storage) + "/content"
}
