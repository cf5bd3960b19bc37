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
	// MemoryBytes is its memory, MemoryUsedBytes what of it is in use, CPUs how many threads it has. All are 0 while
	// they are unknown: without Sys.Audit on the node, and for a node that does not report.
	MemoryBytes, MemoryUsedBytes int64
	CPUs                         int
}

// Nodes are the machines that Proxmox VE runs on.
func (c *Client) Nodes() Nodes { return nodes{c} }

type nodes struct{ client *Client }

func (n nodes) List(ctx context.Context) ([]Node, error) {
	var rows []nodeRow
	if err := n.client.get(ctx, "/nodes", &rows); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	list := make([]Node, 0, len(rows))
	for _, row := range rows {
		list = append(list, row.node())
	}
	return list, nil
}

type nodeRow struct {
	Node   string `json:"node"`
	Status string `json:"status"`
	Memory whole  `json:"maxmem"`
	Used   whole  `json:"mem"`
	CPUs   whole  `json:"maxcpu"`
}

func (r nodeRow) node() Node {
	return Node{Name: r.Node, Online: r.Status == "online", MemoryBytes: int64(r.Memory), MemoryUsedBytes: int64(r.Used), CPUs: int(r.CPUs)}
}
