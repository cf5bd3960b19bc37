package simulator

func (c *call) listResources() (any, error) {
	kind := c.text("type")
	rows := []any{}
	lists := []struct {
		kind string
		list func(*call) []any
	}{
		{"", (*call).poolResources}, {"vm", (*call).guestResources}, {"node", (*call).nodeResources}, {"storage", (*call).storageResources}, {"sdn", (*call).zoneResources},
	}
	for _, l := range lists {
		if kind == "" || kind == l.kind {
			rows = append(rows, l.list(c)...)
		}
	}
	return rows, nil
}

func (c *call) guestResources() []any {
	rows := []any{}
	for _, vmid := range c.s.vmids() {
		g := c.s.guests[vmid]
		if !c.may("/vms/"+itoa(vmid), "VM.Audit") {
			continue
		}
		r := c.s.guestRow(g)
		r.Tags, r.Lock = g.conf["tags"], g.lock()
		if pool := c.s.acl.PoolOf(vmid); pool != "" && c.may("/pool/"+pool, "Pool.Audit") {
			r.Pool = pool
		}
		r.HAState = c.s.haState(g)
		rows = append(rows, r)
	}
	return rows
}

func (c *call) poolResources() []any {
	rows := []any{}
	for _, id := range sortedKeys(c.s.acl.Pools) {
		if c.may("/pool/"+id, "Pool.Audit") {
			rows = append(rows, row{"id": "/pool/" + id, "pool": id, "type": "pool"})
		}
	}
	return rows
}

func (c *call) nodeResources() []any {
	rows := []any{}
	for _, name := range c.s.nodeNames() {
		r := c.nodeRow(name)
		r["cgroup-mode"] = 2
		if state := c.s.haNodeState(name); state != "" {
			r["hastate"] = state
		}
		rows = append(rows, r)
	}
	return rows
}

func (c *call) storageResources() []any {
	rows := []any{}
	for _, node := range c.s.nodeNames() {
		for _, name := range sortedKeys(c.s.storages) {
			st := c.s.storages[name]
			if st.on(node) && !st.disabled && c.may("/storage/"+name, "Datastore.Audit") {
				rows = append(rows, c.s.storageRow(st, node))
			}
		}
	}
	return rows
}

func (c *call) zoneResources() []any {
	rows := []any{}
	for _, z := range sortedKeys(c.s.sdn.Running.Zones) {
		if !c.may("/sdn/zones/"+z, "SDN.Audit") {
			continue
		}
		for _, n := range c.s.nodeNames() {
			if c.s.sdn.Running.On(n, z) {
				rows = append(rows, row{"id": "sdn/" + n + "/" + z, "type": "sdn", "sdn": z, "node": n, "status": "available"})
			}
		}
	}
	return rows
}
