package simulator

import "kubehenge.dev/proxmox/simulator/rrd"

// historyEndpoints are the figures of the past, which are made up. Source: pve-manager PVE/API2/Nodes.pm and others.
func historyEndpoints() []*endpoint {
	const span = "timeframe* enum(hour day week month year); cf enum(AVERAGE MAX)"
	guest := need("/vms/{vmid}", "VM.Audit")
	return []*endpoint{
		on("GET /nodes/{node}/rrddata", need("/nodes/{node}", "Sys.Audit"), "timeframe* enum(hour day week month year decade); cf enum(AVERAGE MAX)", (*call).nodeHistory, anywhere),
		on("GET /nodes/{node}/qemu/{vmid}/rrddata", guest, span, (*call).guestHistory, anywhere),
		on("GET /nodes/{node}/lxc/{vmid}/rrddata", guest, span, (*call).guestHistory, anywhere),
		on("GET /nodes/{node}/storage/{storage}/rrddata", need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace"), span, (*call).storageHistory),
	}
}

// history is one row a moment; before a thing was there its rows hold nothing but the time.
func (c *call) history(since int64, figures func(at int64) row) (any, error) {
	rows := []any{}
	for _, at := range rrd.Times(c.text("timeframe"), c.s.now()) {
		r := row{}
		if at >= since {
			r = figures(at)
		}
		r["time"] = at
		rows = append(rows, r)
	}
	return rows, nil
}

func (c *call) nodeHistory() (any, error) {
	n := c.s.nodes[c.node()]
	if n == nil {
		return nil, fail("no such cluster node '%s'", c.node())
	}
	disk := float64(int64(100) << 30)
	return c.history(0, func(at int64) row {
		wave := rrd.Wave(n.name, at)
		r := row{"cpu": wave / 4, "iowait": wave / 100, "loadavg": wave * float64(n.cpus) / 4, "maxcpu": n.cpus, "memtotal": n.memory,
			"memused": float64(n.memory) * (0.2 + wave/4), "swaptotal": 0, "swapused": 0, "roottotal": disk, "rootused": disk / 10, "netin": wave * 1e6, "netout": wave * 4e5}
		if c.s.version == "9.2" {
			r["memavailable"], r["arcsize"] = float64(n.memory)*(0.8-wave/4), 0
		}
		return r
	})
}

func (c *call) guestHistory() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	since := int64(1) << 62 // a guest that is off has no history
	if g.state != stopped {
		since = g.started.Unix()
	}
	seed, memory, cpus := g.kind+itoa(g.vmid), g.memory(), c.s.cpusOf(g)
	disk := c.s.bootDiskSize(g)
	return c.history(since, func(at int64) row {
		wave := rrd.Wave(seed, at)
		r := row{"cpu": wave / 5, "maxcpu": cpus, "mem": float64(memory) * (0.3 + wave/5), "maxmem": memory, "disk": 0, "maxdisk": disk,
			"netin": wave * 7e3, "netout": wave * 3e3, "diskread": wave * 1e4, "diskwrite": wave * 4e4}
		if c.s.version == "9.2" {
			r["memhost"] = float64(memory) * (0.4 + wave/5)
		}
		return r
	})
}

func (c *call) storageHistory() (any, error) {
	st, err := c.s.storageOn(c.node(), c.text("storage"))
	if err != nil {
		return nil, err
	}
	used := float64(c.s.used(c.node(), st.name))
	return c.history(0, func(at int64) row { return row{"total": st.size, "used": used * (0.95 + rrd.Wave(st.name, at)/20)} })
}
