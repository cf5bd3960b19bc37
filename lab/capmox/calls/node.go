package calls

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// nodeStatus is the part of a node's status that is used.
type nodeStatus struct {
	Memory struct {
		Total uint64 `json:"total"`
	} `json:"memory"`
}

// askNode reads a node's status, as capmox does before every call on one of its VMs.
func (c *Client) askNode(ctx context.Context, node string) (nodeStatus, error) {
	var s nodeStatus
	if err := c.get(ctx, fmt.Sprintf("/nodes/%s/status", node), &s); err != nil {
		return s, fmt.Errorf("cannot find node with name %s: %w", node, err)
	}
	return s, nil
}

// askNodeKindly reads a node's status where being refused does not matter.
func (c *Client) askNodeKindly(ctx context.Context, node string) error {
	err := c.get(ctx, fmt.Sprintf("/nodes/%s/status", node), &nodeStatus{})
	if errors.Is(err, errNotAuthorized) {
		return nil
	}
	return err
}

// askCluster reads the cluster's status; being refused does not matter (a provider's token has no Sys.Audit on /).
func (c *Client) askCluster(ctx context.Context) error {
	err := c.get(ctx, "/cluster/status", &[]struct{}{})
	if errors.Is(err, errNotAuthorized) {
		return nil
	}
	return err
}

// ReservableMemory is how much of a node's memory a new VM may take, in bytes: the node's total times
// adjustment percent, less the memory of every VM and container the token can see, running or not. With
// adjustment 0 it is the node's total.
func (c *Client) ReservableMemory(ctx context.Context, node string, adjustment int64) (uint64, error) {
	status, err := c.askNode(ctx, node)
	if err != nil {
		return 0, err
	}
	if adjustment == 0 {
		return status.Memory.Total, nil
	}
	free := uint64(float64(status.Memory.Total) / 100 * float64(adjustment))
	for _, list := range []struct{ kind, what string }{{"qemu", "vms"}, {"lxc", "containers"}} {
		var guests []struct {
			MaxMem   uint64   `json:"maxmem"`
			Template presence `json:"template"`
		}
		if err := c.get(ctx, fmt.Sprintf("/nodes/%s/%s", node, list.kind), &guests); err != nil {
			return 0, fmt.Errorf("cannot list %s for node %s: %w", list.what, node, err)
		}
		for _, g := range guests {
			if bool(g.Template) && list.kind == "qemu" {
				continue // templates are never started
			}
			free -= min(free, g.MaxMem)
		}
	}
	return free, nil
}

// presence is true for any value but the empty string, the way go-proxmox reads "template".
type presence bool

// UnmarshalJSON implements json.Unmarshaler.
func (p *presence) UnmarshalJSON(b []byte) error {
	*p = len(b) > 0 && string(b) != `""`
	return nil
}

// resource is one row of /cluster/resources.
type resource struct {
	VMID     int64  `json:"vmid"`
	Node     string `json:"node"`
	Name     string `json:"name"`
	Tags     string `json:"tags"`
	Template int    `json:"template"`
}

func (c *Client) resources(ctx context.Context) ([]resource, error) {
	if err := c.askCluster(ctx); err != nil {
		return nil, fmt.Errorf("cannot get cluster status: %w", err)
	}
	var rows []resource
	if err := c.get(ctx, "/cluster/resources?type=vm", &rows); err != nil {
		return nil, fmt.Errorf("could not list vm resources: %w", err)
	}
	return rows, nil
}

// WhereIs finds the node of a VM.
func (c *Client) WhereIs(ctx context.Context, id int64) (string, error) {
	rows, err := c.resources(ctx)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.VMID == id {
			return r.Node, nil
		}
	}
	return "", fmt.Errorf("unable to find VM with ID %d on any of the nodes", id)
}

// Free says whether a VMID is free.
func (c *Client) Free(ctx context.Context, id int64) (bool, error) {
	if err := c.askCluster(ctx); err != nil {
		return false, errors.New("cannot get cluster")
	}
	err := c.get(ctx, fmt.Sprintf("/cluster/nextid?vmid=%d", id), new(any))
	if err != nil && strings.Contains(err.Error(), fmt.Sprintf("VM %d already exists", id)) {
		return false, nil
	}
	return err == nil, err
}

// nextID asks for the next free VMID.
func (c *Client) nextID(ctx context.Context) (int64, error) {
	if err := c.askCluster(ctx); err != nil {
		return 0, err
	}
	var id int64
	var text string
	if err := c.get(ctx, "/cluster/nextid", &text); err != nil {
		return 0, err
	}
	_, err := fmt.Sscan(text, &id)
	return id, err
}
