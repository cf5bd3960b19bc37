package permission

import (
	"slices"
	"strconv"
	"strings"
)

// PoolOf returns the pool of a guest, empty if it is in none.
func (c *Config) PoolOf(vmid int) string {
	c.index()
	return c.poolOfVM[vmid]
}

// index finds the pools of guests and storages again after a change.
func (c *Config) index() {
	if c.poolOfVM != nil {
		return
	}
	c.poolOfVM, c.poolsOf = map[int]string{}, map[string][]string{}
	for id, p := range c.Pools {
		for vmid := range p.VMs {
			c.poolOfVM[vmid] = id
		}
		for s := range p.Storages {
			c.poolsOf[s] = append(c.poolsOf[s], id)
		}
	}
}

// poolsAt returns the pools whose roles count on path: of a guest or of a storage, nowhere else and not deeper.
func (c *Config) poolsAt(path string) []string {
	c.index()
	if id, ok := strings.CutPrefix(path, "/vms/"); ok {
		vmid, err := strconv.Atoi(id)
		if pool := c.poolOfVM[vmid]; err == nil && pool != "" {
			return []string{pool}
		}
	}
	if s, ok := strings.CutPrefix(path, "/storage/"); ok {
		return c.poolsOf[s]
	}
	return nil
}

// Children returns the pools directly below one, sorted.
func (c *Config) Children(pool string) []string {
	var below []string
	for id := range c.Pools {
		if rest, ok := strings.CutPrefix(id, pool+"/"); ok && !strings.Contains(rest, "/") {
			below = append(below, id)
		}
	}
	slices.Sort(below)
	return below
}

// RemoveGuest takes a guest out of its pool and forgets the ACL entries on its path.
func (c *Config) RemoveGuest(vmid int) {
	for _, p := range c.Pools {
		delete(p.VMs, vmid)
	}
	delete(c.ACL, "/vms/"+strconv.Itoa(vmid))
	c.Changed()
}

// RemovePool deletes a pool. Only with a pool of the top level its ACL entries go, those below it included; those of a
// nested pool stay behind, as in Proxmox VE (access-control 9.1.1).
func (c *Config) RemovePool(id string) {
	delete(c.Pools, id)
	if !strings.Contains(id, "/") {
		for path := range c.ACL {
			if path == "/pool/"+id || strings.HasPrefix(path, "/pool/"+id+"/") {
				delete(c.ACL, path)
			}
		}
	}
	c.Changed()
}
