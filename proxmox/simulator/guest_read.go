package simulator

import (
	"encoding/json"

	"kubehenge.dev/proxmox/simulator/schema"
)

// ListGuests lists the guests of a kind on the node of the path.
func ListGuests(c *call, kind string) (any, error) {
	rows := []any{}
	for _, vmid := range c.State.VMIDs() {
		g := c.State.Guests[vmid]
		if g.Node == c.Node() && g.Kind == kind && c.May("/vms/"+Itoa(vmid), "VM.Audit") {
			rows = append(rows, statusRow(c.State, g))
		}
	}
	return rows, nil
}

// statusRow is a guest as its own node tells of it.
func statusRow(s *State, g *guest) Row {
	st := s.Measure(g)
	r := Row{"vmid": g.VMID, "name": st.Name, "status": st.Status, "cpus": s.CPUsOf(g), "maxmem": st.MaxMem, "mem": st.Mem, "maxdisk": st.MaxDisk, "disk": st.Disk,
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
	if g.State != Stopped {
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
func GuestStatus(c *call) (any, error) {
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
	if g.State != Stopped {
		r["running-machine"], r["running-qemu"] = "pc-i440fx-10.0", "10.0.13"
		r["proxmox-support"] = Row{}
	}
	return r, nil
}

// ReadConfig answers with the configuration of the guest of the path: pending changes included, without them, or a
// snapshot's.
func ReadConfig(c *call) (any, error) {
	if c.Flag("current", false) && c.Has("snapshot") {
		const text = "cannot use 'snapshot' parameter with 'current'"
		return nil, InvalidAll(schema.Errors{"snapshot": text, "current": text})
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
			return nil, Fail("snapshot '%s' does not exist", name)
		}
		conf = snap
	}
	data := Row{"digest": g.Digest()}
	for k, v := range conf {
		data[k] = g.Shown(k, v)
	}
	return data, nil
}

// ReadPending lists every option with its value, and the one that comes with the next start.
func ReadPending(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, k := range SortedKeys(g.Conf) {
		r := Row{"key": k, "value": g.Shown(k, g.Conf[k])}
		if v, ok := g.Pending[k]; ok {
			r["pending"] = g.Shown(k, v)
		}
		if force, ok := g.Removed[k]; ok {
			r["delete"] = 1 + Bit(force)
		}
		rows = append(rows, r)
	}
	for _, k := range SortedKeys(g.Pending) {
		if _, ok := g.Conf[k]; !ok {
			rows = append(rows, Row{"key": k, "pending": g.Shown(k, g.Pending[k])})
		}
	}
	return append(rows, Row{"key": "digest", "value": g.Digest()}), nil
}
