package proxmox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Capacity is what nodes and storages have, and what of it is in use.
type Capacity struct {
	Resources
	// Loads are the nodes' used processors, from 0 to 1, by node; nodes that do not report, or may not be seen, are left out.
	Loads map[string]float64
	// Storages are the storages of each node; shared ones come once for each.
	Storages []StorageSpace
}

// StorageSpace is a storage as one node has it.
type StorageSpace struct {
	// Name is its name, Node the node that tells of it.
	Name, Node string
	// Shared is true where all nodes see the same volumes.
	Shared bool
	// Available is false while it does not answer.
	Available bool
	// TotalBytes and UsedBytes are its space; 0 while it does not answer.
	TotalBytes, UsedBytes int64
}

// Capacity reads nodes, guests and storages with one call, as far as the caller may see them.
func (c *Client) Capacity(ctx context.Context) (Capacity, error) {
	var rows []json.RawMessage
	if err := c.get(ctx, "/cluster/resources", &rows); err != nil {
		return Capacity{}, fmt.Errorf("list nodes, guests and storages: %w", err)
	}
	all := Capacity{Loads: map[string]float64{}}
	for _, row := range rows {
		if err := all.add(row); err != nil {
			return Capacity{}, fmt.Errorf("list nodes, guests and storages: %w",
				&Error{Kind: Unreadable, Method: http.MethodGet, Path: "/cluster/resources", Status: http.StatusOK, Reason: err.Error(), cause: err})
		}
	}
	return all, nil
}

func (a *Capacity) add(row json.RawMessage) error {
	var r struct {
		Type    string   `json:"type"`
		Node    string   `json:"node"`
		Storage string   `json:"storage"`
		Shared  flag     `json:"shared"`
		Status  string   `json:"status"`
		CPU     *float64 `json:"cpu"`
		Total   whole    `json:"maxdisk"`
		Used    whole    `json:"disk"`
	}
	if err := json.Unmarshal(row, &r); err != nil {
		return err
	}
	switch r.Type {
	case "node":
		if r.CPU != nil {
			a.Loads[r.Node] = *r.CPU
		}
	case "storage":
		a.Storages = append(a.Storages, StorageSpace{r.Storage, r.Node, bool(r.Shared), r.Status == "available", int64(r.Total), int64(r.Used)})
	}
	return a.Resources.add(row)
}

// RecentTask is a task that runs, or ended lately.
type RecentTask struct {
	// UPID is its name, Node where it runs, Type what it does, ID what it does it to, User who began it.
	UPID, Node, Type, ID, User string
	// Status is empty while it runs, OK or what went wrong afterwards.
	Status string
	// Started is when it began, Ended when it ended; zero while it runs.
	Started, Ended time.Time
}

// RecentTasks are the newest tasks of all nodes that the caller may see, the newest first: one's own, and with Sys.Audit on / everybody's
// (pve-manager PVE/API2/Cluster.pm, tasks).
func (c *Client) RecentTasks(ctx context.Context) ([]RecentTask, error) {
	var rows []struct {
		UPID   string `json:"upid"`
		Node   string `json:"node"`
		Type   string `json:"type"`
		ID     string `json:"id"`
		User   string `json:"user"`
		Token  string `json:"tokenid"`
		Status string `json:"status"`
		Start  whole  `json:"starttime"`
		End    whole  `json:"endtime"`
	}
	if err := c.get(ctx, "/cluster/tasks", &rows); err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	list := make([]RecentTask, 0, len(rows))
	for _, r := range rows {
		t := RecentTask{UPID: r.UPID, Node: r.Node, Type: r.Type, ID: r.ID, User: r.User, Status: r.Status, Started: time.Unix(int64(r.Start), 0).UTC()}
		if r.Token != "" {
			t.User += "!" + r.Token
		}
		if r.End != 0 {
			t.Ended = time.Unix(int64(r.End), 0).UTC()
		}
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b RecentTask) int { return b.Started.Compare(a.Started) })
	return list, nil
}
