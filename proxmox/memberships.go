package proxmox

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Memberships put guests and storages into pools. A guest is in one pool at most, a storage in any number. Both lend
// the pool's ACL entries to what is in it, a storage as well as a guest.
type Memberships interface {
	// Move puts guests into a pool, out of any other: Pool.Allocate on both pools and VM.Allocate on the guests. One
	// that is in it already makes it Exists, and none is moved then.
	Move(ctx context.Context, pool string, vmids ...int) error
	// AddStorages puts storages into a pool: Pool.Allocate on it and Datastore.Allocate on the storages.
	AddStorages(ctx context.Context, pool string, storages ...string) error
	// RemoveStorages takes storages out of a pool; their volumes stay.
	RemoveStorages(ctx context.Context, pool string, storages ...string) error
}

// Memberships put guests and storages into pools.
func (c *Client) Memberships() Memberships { return memberships{c} }

type memberships struct{ client *Client }

func (m memberships) Move(ctx context.Context, pool string, vmids ...int) error {
	list := make([]string, len(vmids))
	for i, id := range vmids {
		list[i] = strconv.Itoa(id)
	}
	params := map[string]any{"vms": strings.Join(list, ","), "allow-move": 1}
	if err := m.change(ctx, pool, params); err != nil {
		return fmt.Errorf("move VM %s into pool %s: %w", strings.Join(list, ", "), pool, err)
	}
	return nil
}

func (m memberships) AddStorages(ctx context.Context, pool string, storages ...string) error {
	if err := m.change(ctx, pool, map[string]any{"storage": strings.Join(storages, ",")}); err != nil {
		return fmt.Errorf("put storage %s into pool %s: %w", strings.Join(storages, ", "), pool, err)
	}
	return nil
}

func (m memberships) RemoveStorages(ctx context.Context, pool string, storages ...string) error {
	if err := m.change(ctx, pool, map[string]any{"storage": strings.Join(storages, ","), "delete": 1}); err != nil {
		return fmt.Errorf("take storage %s out of pool %s: %w", strings.Join(storages, ", "), pool, err)
	}
	return nil
}

// change gives the pool's name in the body: the form with the name in the path knows no nested pools.
func (m memberships) change(ctx context.Context, pool string, params map[string]any) error {
	params["poolid"] = pool
	return m.client.put(ctx, "/pools", params)
}
