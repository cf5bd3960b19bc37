package guest

import (
	"encoding/json"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// ListGuests lists the guests of a kind on the node of the path.
func ListGuests(c *core.Call, kind string) (any, error) {
	rows := []any{}
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if g.Node == c.Node() && g.Kind == kind && c.May("/vms/"+core.Itoa(vmid), "VM.Audit") {
			rows = append(rows, statusRow(c.State, g))
		}
	}
	return rows, nil
}

// statusRow is a guest as its own node tells of it.
func statusRow(s *core.State, g *core.Guest) core.Row {
	st := s.Measure(g)
	r := core.Row{"vmid": g.VMID, "name": st.Name, "status": st.Status, "cpus": s.CPUsOf(g), "maxmem": st.MaxMem, "mem": st.Mem, "maxdisk": st.MaxDisk, "disk": st.Disk,
		"uptime": st.Uptime, "cpu": st.CPU, "netin": st.NetIn, "netout": st.NetOut}
	if st.MemHost != nil {
		r["memhost"] = *st.MemHost
	}
	if g.Kind == "lxc" {
		r["type"], r["swap"], r["maxswap"], r["diskread"], r["diskwrite"] = "lxc", 0, int64(g.Number("swap", 0))<<20, 0, 0
	}
	if g.Template() {
		r["template"] = 1
	}
	for _, option := range []string{"lock", "tags"} {
		if v := g.Conf[option]; v != "" {
			r[option] = v
		}
	}
	if g.Conf["serial0"] == "socket" {
		r["serial"] = 1
	}
	if g.State != core.Stopped {
		r["pid"], r["diskread"], r["diskwrite"] = g.PID, st.DiskRead, st.DiskWrite
		if s.Version == "9.2" {
			for _, p := range []string{"cpufull", "cpusome", "iofull", "iosome", "memoryfull", "memorysome"} {
				r["pressure"+p] = json.Number("0.00")
			}
		}
	}
	return r
}

// GuestStatus answers for the guest of the path, as its node sees it now.
func GuestStatus(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	r := statusRow(c.State, g)
	r["ha"] = c.State.HAStatus(g)
	if g.Kind == "lxc" {
		return r, nil
	}
	r["qmpstatus"] = g.State
	if g.AgentEnabled() {
		r["agent"] = 1
	}
	if g.State != core.Stopped {
		r["running-machine"], r["running-qemu"] = "pc-i440fx-10.0", "10.0.13"
		r["proxmox-support"] = core.Row{}
	}
	return r, nil
}

// ReadConfig answers with the configuration of the guest of the path: pending changes included, without them, or a
// snapshot's.
func ReadConfig(c *core.Call) (any, error) {
	if c.Flag("current", false) && c.Has("snapshot") {
		const text = "cannot use 'snapshot' parameter with 'current'"
		return nil, core.InvalidAll(schema.Errors{"snapshot": text, "current": text})
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	conf := g.Wanted()
	if c.Flag("current", false) {
		conf = g.Conf
	}
	if name := c.Text("snapshot"); name != "" {
		snap, ok := g.Snaps[name]
		if !ok {
			return nil, core.Fail("snapshot '%s' does not exist", name)
		}
		conf = snap
	}
	data := core.Row{"digest": g.Digest()}
	for k, v := range conf {
		data[k] = g.Shown(k, v)
	}
	return data, nil
}

// ReadPending lists every option with its value, and the one that comes with the next start.
func ReadPending(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, k := range core.SortedKeys(g.Conf) {
		r := core.Row{"key": k, "value": g.Shown(k, g.Conf[k])}
		if v, ok := g.Pending[k]; ok {
			r["pending"] = g.Shown(k, v)
		}
		if force, ok := g.Removed[k]; ok {
			r["delete"] = 1 + core.Bit(force)
		}
		rows = append(rows, r)
	}
	for _, k := range core.SortedKeys(g.Pending) {
		if _, ok := g.Conf[k]; !ok {
			rows = append(rows, core.Row{"key": k, "pending": g.Shown(k, g.Pending[k])})
		}
	}
	return append(rows, core.Row{"key": "digest", "value": g.Digest()}), nil
}
