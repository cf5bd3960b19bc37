// Package pools answers for resource pools.
package pools

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/storage"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

// Endpoints are resource pools. Source: pve-manager PVE/API2/Pool.pm.
func Endpoints() []*core.Endpoint {
	allocate := core.Need("/pool/{poolid}", "Pool.Allocate")
	const change = "comment string; vms vmid-list; storage storage-id-list; allow-move bool; delete bool"
	return []*core.Endpoint{
		core.On("GET /pools", core.Anyone, "poolid poolid; type enum(qemu lxc storage) requires=poolid", listPools),
		core.On("POST /pools", allocate, "poolid* poolid; comment string", createPool),
		core.On("PUT /pools", allocate, "poolid* poolid;"+change, updatePool),
		core.On("DELETE /pools", allocate, "poolid* poolid", deletePool),
		core.On("GET /pools/{poolid}", core.Need("/pool/{poolid}", "Pool.Audit"), "type enum(qemu lxc storage)", readPool),
		core.On("PUT /pools/{poolid}", allocate, change, updatePool),
		core.On("DELETE /pools/{poolid}", allocate, "", deletePool),
	}
}

func listPools(c *core.Call) (any, error) {
	if c.Has("poolid") { // asks for no privilege on the pool, in 8.4 as in 9.2
		data, err := readPool(c)
		return []any{data}, err
	}
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.ACL.Pools) {
		if c.May("/pool/"+id, "Pool.Audit") {
			rows = append(rows, poolRow(id, c.State.ACL.Pools[id]))
		}
	}
	return rows, nil
}

func poolRow(id string, p *permission.Pool) core.Row {
	data := core.Row{"poolid": id}
	if p.Comment != "" {
		data["comment"] = p.Comment
	}
	return data
}

func readPool(c *core.Call) (any, error) {
	id := c.Text("poolid")
	p := c.State.ACL.Pools[id]
	if p == nil {
		return nil, core.Fail("pool '%s' does not exist", id)
	}
	data := poolRow(id, p)
	members := []any{}
	kind := c.Text("type")
	for _, vmid := range core.SortedKeys(p.VMs) {
		if g := c.State.Guests[vmid]; g != nil && (kind == "" || kind == g.Kind) {
			members = append(members, c.State.GuestRow(g))
		}
	}
	for _, name := range core.SortedKeys(p.Storages) {
		if st := c.State.Storages[name]; st != nil && (kind == "" || kind == "storage") {
			members = append(members, storage.StorageRow(c.State, st, firstNode(c.State, st)))
		}
	}
	data["members"] = members
	return data, nil
}

func firstNode(s *core.State, st *core.Storage) string {
	if st.On(s.Local) {
		return s.Local
	}
	return st.Nodes[0]
}

func createPool(c *core.Call) (any, error) {
	return nil, c.Locked(core.UserLock, "create pool failed", func() error { return addPool(c, c.Text("poolid")) })
}

func addPool(c *core.Call, id string) error {
	if c.State.ACL.Pools[id] != nil {
		return core.Fail("pool '%s' already exists", id)
	}
	name := id
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		name = id[i+1:]
		if c.State.ACL.Pools[id[:i]] == nil {
			return core.Fail("parent '%s' of pool '%s' does not exist", id[:i], id)
		}
	}
	if !letter(name[0]) {
		return core.Fail("pool name must start with a letter")
	}
	c.State.ACL.Pools[id] = New(c.Text("comment"))
	c.State.ACL.Changed()
	return nil
}

// New is a pool without members.
func New(comment string) *permission.Pool {
	return &permission.Pool{Comment: comment, VMs: map[int]bool{}, Storages: map[string]bool{}}
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func updatePool(c *core.Call) (any, error) {
	return nil, c.Locked(core.UserLock, "update pools failed", func() error { return changePool(c) })
}

func changePool(c *core.Call) error {
	id := c.Text("poolid")
	p := c.State.ACL.Pools[id]
	if p == nil {
		return core.Fail("pool '%s' does not exist", id)
	}
	changed := *p
	changed.VMs, changed.Storages = copySet(p.VMs), copySet(p.Storages)
	moved, err := changeMembers(c, id, &changed)
	if err != nil {
		return err
	}
	for _, vmid := range moved {
		for _, other := range c.State.ACL.Pools {
			delete(other.VMs, vmid)
		}
	}
	if c.Has("comment") {
		changed.Comment = c.Text("comment")
	}
	c.State.ACL.Pools[id] = &changed
	c.State.ACL.Changed()
	return nil
}

func copySet[K comparable](m map[K]bool) map[K]bool {
	n := map[K]bool{}
	for k := range m {
		n[k] = true
	}
	return n
}

// changeMembers changes a copy of the pool, so that all is done or nothing. It returns the guests that come from
// elsewhere.
func changeMembers(c *core.Call, id string, p *permission.Pool) (moved []int, err error) {
	remove := c.Flag("delete", false)
	for _, text := range c.List("vms") {
		vmid, _ := strconv.Atoi(text)
		if err := c.Check("/vms/"+text, "Permissions.Modify|VM.Allocate"); err != nil {
			return nil, err
		}
		if remove {
			if !p.VMs[vmid] {
				return nil, core.Fail("VM %d is not a pool member", vmid)
			}
			delete(p.VMs, vmid)
			continue
		}
		if err := mayJoin(c, id, vmid, p); err != nil {
			return nil, err
		}
		p.VMs[vmid] = true
		moved = append(moved, vmid)
	}
	for _, name := range c.List("storage") {
		if err := c.Check("/storage/"+name, "Permissions.Modify|Datastore.Allocate"); err != nil {
			return nil, err
		}
		switch {
		case remove && !p.Storages[name]:
			return nil, core.Fail("Storage '%s' is not a pool member", name)
		case !remove && p.Storages[name]:
			return nil, core.Fail("Storage '%s' is already a pool member", name)
		case remove:
			delete(p.Storages, name)
		default:
			p.Storages[name] = true
		}
	}
	return moved, nil
}

func mayJoin(c *core.Call, id string, vmid int, p *permission.Pool) error {
	if p.VMs[vmid] {
		return core.Fail("VM %d is already a pool member", vmid)
	}
	other := c.State.ACL.PoolOf(vmid)
	if other == "" {
		return nil
	}
	if !c.Flag("allow-move", false) {
		return core.Fail("VM %d belongs already to pool '%s' and 'allow-move' is not set", vmid, other)
	}
	return c.Check("/pool/"+other, "Pool.Allocate")
}

func deletePool(c *core.Call) (any, error) {
	id := c.Text("poolid")
	return nil, c.Locked(core.UserLock, "delete pool failed", func() error {
		if err := mayDeletePool(c.State, id); err != nil {
			return err
		}
		c.State.ACL.RemovePool(id)
		return nil
	})
}

func mayDeletePool(s *core.State, id string) error {
	p := s.ACL.Pools[id]
	if p == nil {
		return core.Fail("pool '%s' does not exist", id)
	}
	if below := s.ACL.Children(id); len(below) > 0 {
		return core.Fail("pool '%s' is not empty (contains pool '%s')", id, below[0])
	}
	vmids := core.SortedKeys(p.VMs)
	if i := slices.IndexFunc(vmids, func(vmid int) bool { return s.Guests[vmid] != nil }); i >= 0 {
		return core.Fail("pool '%s' is not empty (contains VM %d)", id, vmids[i])
	}
	names := core.SortedKeys(p.Storages)
	if i := slices.IndexFunc(names, func(n string) bool { return s.Storages[n] != nil }); i >= 0 {
		return core.Fail("pool '%s' is not empty (contains storage '%s')", id, names[i])
	}
	return nil
}
