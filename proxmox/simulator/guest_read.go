package simulator

import (
	"encoding/json"

	"kubehenge.dev/proxmox/simulator/schema"
)

func (c *call) listGuests(kind string) (any, error) {
	rows := []any{}
	for _, vmid := range c.s.vmids() {
		g := c.s.guests[vmid]
		if g.node == c.node() && g.kind == kind && c.may("/vms/"+itoa(vmid), "VM.Audit") {
			rows = append(rows, c.s.statusRow(g))
		}
	}
	return rows, nil
}

// statusRow is a guest as its own node tells of it.
func (s *state) statusRow(g *guest) row {
	st := s.measure(g)
	r := row{"vmid": g.vmid, "name": st.Name, "status": st.status, "cpus": s.cpusOf(g), "maxmem": st.MaxMem, "mem": st.Mem, "maxdisk": st.MaxDisk, "disk": st.Disk,
		"uptime": st.Uptime, "cpu": st.CPU, "netin": st.NetIn, "netout": st.NetOut}
	if st.MemHost != nil {
		r["memhost"] = *st.MemHost
	}
	if g.kind == "lxc" {
		r["type"], r["swap"], r["maxswap"], r["diskread"], r["diskwrite"] = "lxc", 0, int64(g.number("swap", 0))<<20, 0, 0
	}
	if g.template() {
		r["template"] = 1
	}
	for _, option := range []string{"lock", "tags"} {
		if v := g.conf[option]; v != "" {
			r[option] = v
		}
	}
	if g.conf["serial0"] == "socket" {
		r["serial"] = 1
	}
	if g.state != stopped {
		r["pid"], r["diskread"], r["diskwrite"] = g.pid, st.DiskRead, st.DiskWrite
		if s.version == "9.2" {
			for _, p := range []string{"cpufull", "cpusome", "iofull", "iosome", "memoryfull", "memorysome"} {
				r["pressure"+p] = json.Number("0.00")
			}
		}
	}
	return r
}

func (c *call) guestStatus() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	r := c.s.statusRow(g)
	r["ha"] = c.s.haStatus(g)
	if g.kind == "lxc" {
		return r, nil
	}
	r["qmpstatus"] = g.state
	if g.agentEnabled() {
		r["agent"] = 1
	}
	if g.state != stopped {
		r["running-machine"], r["running-qemu"] = "pc-i440fx-10.0", "10.0.13"
		r["proxmox-support"] = row{}
	}
	return r, nil
}

func (c *call) readConfig() (any, error) {
	if c.flag("current", false) && c.has("snapshot") {
		const text = "cannot use 'snapshot' parameter with 'current'"
		return nil, invalidAll(schema.Errors{"snapshot": text, "current": text})
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	conf := g.wanted()
	if c.flag("current", false) {
		conf = g.conf
	}
	if name := c.text("snapshot"); name != "" {
		snap, ok := g.snaps[name]
		if !ok {
			return nil, fail("snapshot '%s' does not exist", name)
		}
		conf = snap
	}
	data := row{"digest": g.digest()}
	for k, v := range conf {
		data[k] = g.shown(k, v)
	}
	return data, nil
}

// readPending lists every option with its value, and the one that comes with the next start.
func (c *call) readPending() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, k := range sortedKeys(g.conf) {
		r := row{"key": k, "value": g.shown(k, g.conf[k])}
		if v, ok := g.pending[k]; ok {
			r["pending"] = g.shown(k, v)
		}
		if force, ok := g.removed[k]; ok {
			r["delete"] = 1 + bit(force)
		}
		rows = append(rows, r)
	}
	for _, k := range sortedKeys(g.pending) {
		if _, ok := g.conf[k]; !ok {
			rows = append(rows, row{"key": k, "pending": g.shown(k, g.pending[k])})
		}
	}
	return append(rows, row{"key": "digest", "value": g.digest()}), nil
}
