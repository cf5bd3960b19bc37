package simulator

import (
	"slices"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

// poolEndpoints are resource pools. Source: pve-manager PVE/API2/Pool.pm.
func poolEndpoints() []*endpoint {
	allocate := need("/pool/{poolid}", "Pool.Allocate")
	const change = "comment string; vms vmid-list; storage storage-id-list; allow-move bool; delete bool"
	return []*endpoint{
		on("GET /pools", anyone, "poolid poolid; type enum(qemu lxc storage) requires=poolid", (*call).listPools),
		on("POST /pools", allocate, "poolid* poolid; comment string", (*call).createPool),
		on("PUT /pools", allocate, "poolid* poolid;"+change, (*call).updatePool),
		on("DELETE /pools", allocate, "poolid* poolid", (*call).deletePool),
		on("GET /pools/{poolid}", need("/pool/{poolid}", "Pool.Audit"), "type enum(qemu lxc storage)", (*call).readPool),
		on("PUT /pools/{poolid}", allocate, change, (*call).updatePool),
		on("DELETE /pools/{poolid}", allocate, "", (*call).deletePool),
	}
}

func (c *call) listPools() (any, error) {
	if c.has("poolid") { // asks for no privilege on the pool, in 8.4 as in 9.2
		data, err := c.readPool()
		return []any{data}, err
	}
	rows := []any{}
	for _, id := range sortedKeys(c.s.acl.Pools) {
		if c.may("/pool/"+id, "Pool.Audit") {
			rows = append(rows, poolRow(id, c.s.acl.Pools[id]))
		}
	}
	return rows, nil
}

func poolRow(id string, p *permission.Pool) row {
	data := row{"poolid": id}
	if p.Comment != "" {
		data["comment"] = p.Comment
	}
	return data
}

func (c *call) readPool() (any, error) {
	id := c.text("poolid")
	p := c.s.acl.Pools[id]
	if p == nil {
		return nil, fail("pool '%s' does not exist", id)
	}
	data := poolRow(id, p)
	members := []any{}
	kind := c.text("type")
	for _, vmid := range sortedKeys(p.VMs) {
		if g := c.s.guests[vmid]; g != nil && (kind == "" || kind == g.kind) {
			members = append(members, c.s.guestRow(g))
		}
	}
	for _, name := range sortedKeys(p.Storages) {
		if st := c.s.storages[name]; st != nil && (kind == "" || kind == "storage") {
			members = append(members, c.s.storageRow(st, c.s.firstNode(st)))
		}
	}
	data["members"] = members
	return data, nil
}

func (s *state) firstNode(st *storage) string {
	if st.on(s.local) {
		return s.local
	}
	return st.nodes[0]
}

func (c *call) createPool() (any, error) {
	return nil, c.locked(userLock, "create pool failed", func() error { return c.addPool(c.text("poolid")) })
}

func (c *call) addPool(id string) error {
	if c.s.acl.Pools[id] != nil {
		return fail("pool '%s' already exists", id)
	}
	name := id
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		name = id[i+1:]
		if c.s.acl.Pools[id[:i]] == nil {
			return fail("parent '%s' of pool '%s' does not exist", id[:i], id)
		}
	}
	if !letter(name[0]) {
		return fail("pool name must start with a letter")
	}
	c.s.acl.Pools[id] = newPool(c.text("comment"))
	c.s.acl.Changed()
	return nil
}

func newPool(comment string) *permission.Pool {
	return &permission.Pool{Comment: comment, VMs: map[int]bool{}, Storages: map[string]bool{}}
}

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func (c *call) updatePool() (any, error) {
	return nil, c.locked(userLock, "update pools failed", c.changePool)
}

func (c *call) changePool() error {
	id := c.text("poolid")
	p := c.s.acl.Pools[id]
	if p == nil {
		return fail("pool '%s' does not exist", id)
	}
	changed := *p
	changed.VMs, changed.Storages = copySet(p.VMs), copySet(p.Storages)
	moved, err := c.changeMembers(id, &changed)
	if err != nil {
		return err
	}
	for _, vmid := range moved {
		for _, other := range c.s.acl.Pools {
			delete(other.VMs, vmid)
		}
	}
	if c.has("comment") {
		changed.Comment = c.text("comment")
	}
	c.s.acl.Pools[id] = &changed
	c.s.acl.Changed()
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
func (c *call) changeMembers(id string, p *permission.Pool) (moved []int, err error) {
	remove := c.flag("delete", false)
	for _, text := range c.list("vms") {
		vmid, _ := strconv.Atoi(text)
		if err := c.check("/vms/"+text, "Permissions.Modify|VM.Allocate"); err != nil {
			return nil, err
		}
		if remove {
			if !p.VMs[vmid] {
				return nil, fail("VM %d is not a pool member", vmid)
			}
			delete(p.VMs, vmid)
			continue
		}
		if err := c.mayJoin(id, vmid, p); err != nil {
			return nil, err
		}
		p.VMs[vmid] = true
		moved = append(moved, vmid)
	}
	for _, name := range c.list("storage") {
		if err := c.check("/storage/"+name, "Permissions.Modify|Datastore.Allocate"); err != nil {
			return nil, err
		}
		switch {
		case remove && !p.Storages[name]:
			return nil, fail("Storage '%s' is not a pool member", name)
		case !remove && p.Storages[name]:
			return nil, fail("Storage '%s' is already a pool member", name)
		case remove:
			delete(p.Storages, name)
		default:
			p.Storages[name] = true
		}
	}
	return moved, nil
}

func (c *call) mayJoin(id string, vmid int, p *permission.Pool) error {
	if p.VMs[vmid] {
		return fail("VM %d is already a pool member", vmid)
	}
	other := c.s.acl.PoolOf(vmid)
	if other == "" {
		return nil
	}
	if !c.flag("allow-move", false) {
		return fail("VM %d belongs already to pool '%s' and 'allow-move' is not set", vmid, other)
	}
	return c.check("/pool/"+other, "Pool.Allocate")
}

func (c *call) deletePool() (any, error) {
	id := c.text("poolid")
	return nil, c.locked(userLock, "delete pool failed", func() error {
		if err := c.s.mayDeletePool(id); err != nil {
			return err
		}
		c.s.acl.RemovePool(id)
		return nil
	})
}

func (s *state) mayDeletePool(id string) error {
	p := s.acl.Pools[id]
	if p == nil {
		return fail("pool '%s' does not exist", id)
	}
	if below := s.acl.Children(id); len(below) > 0 {
		return fail("pool '%s' is not empty (contains pool '%s')", id, below[0])
	}
	vmids := sortedKeys(p.VMs)
	if i := slices.IndexFunc(vmids, func(vmid int) bool { return s.guests[vmid] != nil }); i >= 0 {
		return fail("pool '%s' is not empty (contains VM %d)", id, vmids[i])
	}
	names := sortedKeys(p.Storages)
	if i := slices.IndexFunc(names, func(n string) bool { return s.storages[n] != nil }); i >= 0 {
		return fail("pool '%s' is not empty (contains storage '%s')", id, names[i])
	}
	return nil
}
