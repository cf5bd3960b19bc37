package simulator

import (
	"encoding/json"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// guestEndpoints read virtual machines and containers. Source: qemu-server src/PVE/API2/Qemu.pm.
func guestEndpoints() []*endpoint {
	audit := need("/vms/{vmid}", "VM.Audit")
	list := []*endpoint{
		on("GET /nodes/{node}/qemu", anyone, "full bool", func(c *call) (any, error) { return c.listGuests("qemu") }),
		on("GET /nodes/{node}/qemu/{vmid}", anyone, "", index("agent cloudinit config firewall migrate monitor move mtunnel pending remote_migrate resize rrd rrddata sendkey snapshot spiceproxy status termproxy unlink vncproxy")),
		on("GET /nodes/{node}/qemu/{vmid}/status", anyone, "", index("current reboot reset shutdown start stop suspend")),
		on("GET /nodes/{node}/qemu/{vmid}/status/current", audit, "", (*call).guestStatus),
		on("GET /nodes/{node}/qemu/{vmid}/config", audit, "current bool; snapshot configid(..40)", (*call).readConfig),
		on("GET /nodes/{node}/qemu/{vmid}/pending", audit, "", (*call).readPending),
		on("GET /nodes/{node}/qemu/{vmid}/feature", audit, "feature* enum(snapshot clone copy); snapname configid(..40)", (*call).readFeature),
	}
	return list
}

// kind is the kind of guest that the path is about.
func (c *call) kind() string {
	if len(c.end.path) > 2 && c.end.path[2] == "lxc" {
		return "lxc"
	}
	return "qemu"
}

// guest returns the guest that the path names.
func (c *call) guest() (*guest, error) { return c.s.guestOn(c.node(), c.kind(), c.vmid()) }

func (g *guest) shownName() string {
	switch {
	case g.kind == "lxc" && g.conf["hostname"] != "":
		return g.conf["hostname"]
	case g.kind == "lxc":
		return "CT" + itoa(g.vmid)
	case g.name() != "":
		return g.name()
	}
	return "VM " + itoa(g.vmid)
}

func (g *guest) status() string {
	if g.state == stopped {
		return stopped
	}
	return running
}

func (g *guest) number(option string, without int) int {
	n, err := strconv.Atoi(g.conf[option])
	if err != nil {
		return without
	}
	return n
}

// cpusOf is how many CPUs a guest may use: a container without a limit all of its node.
func (s *state) cpusOf(g *guest) int {
	if g.kind == "lxc" {
		return g.number("cores", s.nodes[g.node].cpus)
	}
	return g.cpus()
}

func (g *guest) cpus() int {
	n := g.number("sockets", 1) * g.number("cores", 1)
	if v := g.number("vcpus", 0); v > 0 && v < n {
		return v
	}
	return n
}

// memory is the guest's memory in bytes.
func (g *guest) memory() int64 {
	text := strings.TrimPrefix(g.conf["memory"], "current=")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		n = 512
	}
	return n << 20
}

// agentEnabled tells whether the guest agent is configured and switched on.
func (g *guest) agentEnabled() bool {
	pairs, err := schema.Format("agent").ParseProperties("agent", g.conf["agent"])
	return err == nil && pairs.Values["enabled"] == "1"
}

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

// wanted is the configuration with its pending changes applied.
func (g *guest) wanted() map[string]string {
	conf := map[string]string{}
	for k, v := range g.conf {
		if _, goes := g.removed[k]; !goes {
			conf[k] = v
		}
	}
	for k, v := range g.pending {
		conf[k] = v
	}
	return conf
}

func (g *guest) digest() string {
	return digestText(digestOf(g.conf) + digestOf(g.pending) + strings.Join(sortedKeys(g.removed), ","))
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

func (c *call) readFeature() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	has := true
	for _, d := range guestconf.Drives(g.conf) {
		if d.Volume() && !d.CDROM() && c.text("feature") == "snapshot" && !c.s.snapshots(g.node, d.File()) {
			has = false
		}
	}
	return row{"hasFeature": bit(has), "nodes": []string{g.node}}, nil
}

// snapshots tells whether a volume can hold snapshots: raw files cannot.
func (s *state) snapshots(node, id string) bool {
	v := s.volume(node, id)
	if v == nil {
		return false
	}
	st := s.storages[v.storage]
	return v.format == "qcow2" || !st.files() && st.kind != "lvm"
}

// shown is an option's value as the API returns it: numbers and booleans as numbers, all else as text.
func (g *guest) shown(option, value string) any {
	if option == "cipassword" {
		return "**********"
	}
	o, ok := guestconf.OptionsOf(g.kind)[option]
	if ok && (o.Kind == schema.Integer || o.Kind == schema.Boolean) {
		return integer(value)
	}
	return value
}
