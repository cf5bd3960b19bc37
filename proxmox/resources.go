package proxmox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// Resources are the nodes and guests of one moment.
type Resources struct {
	// Nodes are all nodes, offline ones included.
	Nodes []Node
	// Machines are the guests that the token may see, as Machines.List has them.
	Machines []Machine
}

// Resources reads nodes and guests with one call. Unlike in two lists, the nodes are those that the guests were on.
func (c *Client) Resources(ctx context.Context) (Resources, error) {
	var rows []json.RawMessage
	if err := c.get(ctx, "/cluster/resources", &rows); err != nil {
		return Resources{}, fmt.Errorf("list nodes and guests: %w", err)
	}
	var r Resources
	for _, row := range rows {
		if err := r.add(row); err != nil {
			return Resources{}, fmt.Errorf("list nodes and guests: %w",
				&Error{Kind: Unreadable, Method: http.MethodGet, Path: "/cluster/resources", Status: http.StatusOK, Reason: err.Error(), cause: err})
		}
	}
	return r, nil
}

// add takes a row that is a node or a guest; there are pools, storages and networks too.
func (r *Resources) add(row json.RawMessage) error {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(row, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case "node":
		var n nodeRow
		if err := json.Unmarshal(row, &n); err != nil {
			return err
		}
		r.Nodes = append(r.Nodes, n.node())
	case "qemu", "lxc":
		var m machineRow
		if err := json.Unmarshal(row, &m); err != nil {
			return err
		}
		r.Machines = append(r.Machines, m.machine())
	}
	return nil
}
