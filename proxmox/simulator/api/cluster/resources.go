package cluster

import (
	"kubehenge.dev/proxmox/simulator/api/nodes"
	"kubehenge.dev/proxmox/simulator/api/storage"
	"kubehenge.dev/proxmox/simulator/core"
)

func listResources(c *core.Call) (any, error) {
	kind := c.Text("type")
	rows := []any{}
	lists := []struct {
		kind string
		list func(*core.Call) []any
	}{
		{"", poolResources}, {"vm", guestResources}, {"node", nodeResources}, {"storage", storageResources}, {"sdn", zoneResources},
	}
	for _, l := range lists {
		if kind == "" || kind == l.kind {
			rows = append(rows, l.list(c)...)
		}
	}
	return rows, nil
}

func guestResources(c *core.Call) []any {
	rows := []any{}
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if !c.May("/vms/"+core.Itoa(vmid), "VM.Audit") {
			continue
		}
		r := c.State.GuestRow(g)
		r.Tags, r.Lock = g.Conf["tags"], g.Lock()
		if pool := c.State.ACL.PoolOf(vmid); pool != "" && c.May("/pool/"+pool, "Pool.Audit") {
			r.Pool = pool
		}
		r.HAState = c.State.HAState(g)
		rows = append(rows, r)
	}
	return rows
}

func poolResources(c *core.Call) []any {
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.ACL.Pools) {
		if c.May("/pool/"+id, "Pool.Audit") {
			rows = append(rows, core.Row{"id": "/pool/" + id, "pool": id, "type": "pool"})
		}
	}
	return rows
}

func nodeResources(c *core.Call) []any {
	rows := []any{}
	for _, name := range c.State.NodeNames() {
		r := nodes.NodeRow(c, name)
		r["cgroup-mode"] = 2
		if state := c.State.HANodeState(name); state != "" {
			r["hastate"] = state
		}
		rows = append(rows, r)
	}
	return rows
}

func storageResources(c *core.Call) []any {
	rows := []any{}
	for _, node := range c.State.NodeNames() {
		for _, name := range core.SortedKeys(c.State.Storages) {
			st := c.State.Storages[name]
			if st.On(node) && !st.Disabled && c.May("/storage/"+name, "Datastore.Audit") {
				rows = append(rows, storage.StorageRow(c.State, st, node))
			}
		}
	}
	return rows
}

func zoneResources(c *core.Call) []any {
	rows := []any{}
	for _, z := range core.SortedKeys(c.State.SDN.Running.Zones) {
		if !c.May("/sdn/zones/"+z, "SDN.Audit") {
			continue
		}
		for _, n := range c.State.NodeNames() {
			if c.State.SDN.Running.On(n, z) {
				rows = append(rows, core.Row{"id": "sdn/" + n + "/" + z, "type": "sdn", "sdn": z, "node": n, "status": "available"})
			}
		}
	}
	return rows
}
