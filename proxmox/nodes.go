package proxmox

import (
	"context"
	"fmt"
)

// Nodes are the machines that Proxmox VE runs on.
type Nodes interface {
	// List is all nodes, offline ones included.
	List(ctx context.Context) ([]Node, error)
}

// Node is one machine of the Proxmox VE cluster.
type Node struct {
	// Name is its name.
	Name string
	// Online is false as soon as the cluster has lost it, and true within seconds of its return.
	Online bool
}

// Nodes are the machines that Proxmox VE runs on.
func (c *Client) Nodes() Nodes { return nodes{c} }

type nodes struct{ client *Client }

func (n nodes) List(ctx context.Context) ([]Node, error) {
	var rows []struct {
		Node   string `json:"node"`
		Status string `json:"status"`
	}
	if err := n.client.get(ctx, "/nodes", &rows); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	list := make([]Node, 0, len(rows))
	for _, row := range rows {
		list = append(list, Node{Name: row.Node, Online: row.Status == "online"})
	}
	return list, nil
}
