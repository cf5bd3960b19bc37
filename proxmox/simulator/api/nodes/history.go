package nodes

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/rrd"
)

// historyEndpoints are the figures of the past, which are made up. Source: pve-manager PVE/API2/Nodes.pm and others.
func historyEndpoints() []*core.Endpoint {
	const span = "timeframe* enum(hour day week month year); cf enum(AVERAGE MAX)"
	guest := core.Need("/vms/{vmid}", "VM.Audit")
	return []*core.Endpoint{
		core.On("GET /nodes/{node}/rrddata", core.Need("/nodes/{node}", "Sys.Audit"), "timeframe* enum(hour day week month year decade); cf enum(AVERAGE MAX)", nodeHistory, core.Anywhere),
		core.On("GET /nodes/{node}/qemu/{vmid}/rrddata", guest, span, guestHistory, core.Anywhere),
		core.On("GET /nodes/{node}/lxc/{vmid}/rrddata", guest, span, guestHistory, core.Anywhere),
		core.On("GET /nodes/{node}/storage/{storage}/rrddata", core.Need("/storage/{storage}", "Datastore.Audit|Datastore.AllocateSpace"), span, storageHistory),
	}
}

// history is one row a moment; before a thing was there its rows hold nothing but the time.
func history(c *core.Call, since int64, figures func(at int64) core.Row) (any, error) {
	rows := []any{}
	for _, at := range rrd.Times(c.Text("timeframe"), c.State.Now()) {
		r := core.Row{}
		if at >= since {
			r = figures(at)
		}
		r["time"] = at
		rows = append(rows, r)
	}
	return rows, nil
}

func nodeHistory(c *core.Call) (any, error) {
	n := c.State.Nodes[c.Node()]
	if n == nil {
		return nil, core.Fail("no such cluster node '%s'", c.Node())
	}
	disk := float64(int64(100) << 30)
	return history(c, 0, func(at int64) core.Row {
		wave := rrd.Wave(n.Name, at)
		r := core.Row{"cpu": wave / 4, "iowait": wave / 100, "loadavg": wave * float64(n.CPUs) / 4, "maxcpu": n.CPUs, "memtotal": n.Memory,
			"memused": float64(n.Memory) * (0.2 + wave/4), "swaptotal": 0, "swapused": 0, "roottotal": disk, "rootused": disk / 10, "netin": wave * 1e6, "netout": wave * 4e5}
		if c.State.Version == "9.2" {
			r["memavailable"], r["arcsize"] = float64(n.Memory)*(0.8-wave/4), 0
		}
		return r
	})
}

func guestHistory(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	since := int64(1) << 62 // a guest that is off has no history
	if g.State != core.Stopped {
		since = g.Started.Unix()
	}
	seed, memory, cpus := g.Kind+core.Itoa(g.VMID), g.Memory(), c.State.CPUsOf(g)
	disk := c.State.BootDiskSize(g)
	return history(c, since, func(at int64) core.Row {
		wave := rrd.Wave(seed, at)
		r := core.Row{"cpu": wave / 5, "maxcpu": cpus, "mem": float64(memory) * (0.3 + wave/5), "maxmem": memory, "disk": 0, "maxdisk": disk,
			"netin": wave * 7e3, "netout": wave * 3e3, "diskread": wave * 1e4, "diskwrite": wave * 4e4}
		if c.State.Version == "9.2" {
			r["memhost"] = float64(memory) * (0.4 + wave/5)
		}
		return r
	})
}

func storageHistory(c *core.Call) (any, error) {
	st, err := c.State.StorageOn(c.Node(), c.Text("storage"))
	if err != nil {
		return nil, err
	}
	used := float64(c.State.Used(c.Node(), st.Name))
	return history(c, 0, func(at int64) core.Row {
		return core.Row{"total": st.Size, "used": used * (0.95 + rrd.Wave(st.Name, at)/20)}
	})
}
