package proxmox

import (
	"context"
	"fmt"
	"net/url"
)

// Pools are the resource pools. Names of nested pools have slashes: kubehenge/team-a.shop.
type Pools interface {
	// List is all pools that the token may see (Pool.Audit), in Proxmox VE's order.
	List(ctx context.Context) ([]Pool, error)
	// Members is what is in one pool itself, not in the pools below it; NotFound when there is no such pool.
	Members(ctx context.Context, pool string) ([]Member, error)
	// Create makes a pool with its comment in one step; Exists when it is there.
	Create(ctx context.Context, pool, comment string) error
	// SetComment replaces a pool's comment.
	SetComment(ctx context.Context, pool, comment string) error
	// Delete removes an empty pool; InUse while it has members, NotFound when it is gone. The ACL entries of a
	// nested pool stay behind.
	Delete(ctx context.Context, pool string) error
}

// Pool is a resource pool.
type Pool struct {
	// ID is its whole name.
	ID string `json:"poolid"`
	// Comment is the text people see beside it.
	Comment string `json:"comment"`
}

// Member is a guest or a storage in a pool.
type Member struct {
	// Type is qemu, lxc or storage.
	Type string
	// VMID is the guest's number; 0 for a storage.
	VMID int
	// Name is the guest's or the storage's name. A guest that was just made has none for some ten seconds.
	Name string
	// Node is where the guest is now.
	Node string
	// Template is true for a VM template.
	Template bool
}

// Guest reports whether the member is a VM or a container.
func (m Member) Guest() bool { return m.Type == "qemu" || m.Type == "lxc" }

// String is the member as a person would look for it, such as VM 20001 (shop-cp-x7k2).
func (m Member) String() string {
	if !m.Guest() {
		return m.Type + " " + m.Name
	}
	kind := map[string]string{"qemu": "VM", "lxc": "container"}[m.Type]
	if m.Name == "" {
		return fmt.Sprintf("%s %d", kind, m.VMID)
	}
	return fmt.Sprintf("%s %d (%s)", kind, m.VMID, m.Name)
}

// Pools are Proxmox VE's resource pools.
func (c *Client) Pools() Pools { return pools{c} }

type pools struct{ client *Client }

func (p pools) List(ctx context.Context) ([]Pool, error) {
	var list []Pool
	if err := p.client.get(ctx, "/pools", &list); err != nil {
		return nil, fmt.Errorf("list pools: %w", err)
	}
	return list, nil
}

func (p pools) Members(ctx context.Context, pool string) ([]Member, error) {
	var found []struct {
		ID      string   `json:"poolid"`
		Members []member `json:"members"`
	}
	if err := p.client.get(ctx, "/pools"+query("poolid", pool), &found); err != nil {
		return nil, fmt.Errorf("list members of pool %s: %w", pool, err)
	}
	if len(found) != 1 || found[0].ID != pool {
		return nil, &Error{Kind: Unreadable, Method: "GET", Path: "/pools", Status: 200, Reason: fmt.Sprintf("%d pools where pool %s was asked for", len(found), pool)}
	}
	members := make([]Member, 0, len(found[0].Members))
	for _, m := range found[0].Members {
		members = append(members, m.member())
	}
	return members, nil
}

func (p pools) Create(ctx context.Context, pool, comment string) error {
	if err := p.client.post(ctx, "/pools", map[string]any{"poolid": pool, "comment": comment}, nil); err != nil {
		return fmt.Errorf("create pool %s: %w", pool, err)
	}
	return nil
}

// SetComment gives the name in the body: the form with the name in the path knows no nested pools.
func (p pools) SetComment(ctx context.Context, pool, comment string) error {
	if err := p.client.put(ctx, "/pools", map[string]any{"poolid": pool, "comment": comment}); err != nil {
		return fmt.Errorf("set the comment of pool %s: %w", pool, err)
	}
	return nil
}

func (p pools) Delete(ctx context.Context, pool string) error {
	if err := p.client.delete(ctx, "/pools"+query("poolid", pool)); err != nil {
		return fmt.Errorf("delete pool %s: %w", pool, err)
	}
	return nil
}

// member is a row of /cluster/resources, which is what pools list.
type member struct {
	Type     string `json:"type"`
	VMID     whole  `json:"vmid"`
	Name     string `json:"name"`
	Storage  string `json:"storage"`
	Node     string `json:"node"`
	Template flag   `json:"template"`
}

func (m member) member() Member {
	name := m.Name
	if m.Type == "storage" {
		name = m.Storage
	}
	return Member{Type: m.Type, VMID: int(m.VMID), Name: name, Node: m.Node, Template: bool(m.Template)}
}

// query is one parameter, escaped.
func query(name, value string) string { return "?" + url.Values{name: {value}}.Encode() }
