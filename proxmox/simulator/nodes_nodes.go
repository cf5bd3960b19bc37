package simulator

import "time"

// nodeEndpoints are nodes.
func nodeEndpoints() []*endpoint {
	audit := need("/nodes/{node}", "Sys.Audit")
	return []*endpoint{
		on("GET /nodes", anyone, "", (*call).listNodes),
		on("GET /nodes/{node}", anyone, "", index("aplinfo apt capabilities ceph certificates config disks dns firewall hosts journal lxc network qemu replication report rrd rrddata scan sdn services status storage subscription syslog tasks time version vzdump")),
		on("GET /nodes/{node}/status", audit, "", (*call).nodeStatus),
		on("GET /nodes/{node}/version", anyone, "", (*call).readVersion),
		on("GET /nodes/{node}/time", audit, "", (*call).nodeTime),
	}
}

func (c *call) listNodes() (any, error) {
	rows := []any{}
	for _, name := range c.s.nodeNames() {
		r := c.nodeRow(name)
		r["ssl_fingerprint"] = c.s.nodes[name].fingerprint
		rows = append(rows, r)
	}
	return rows, nil
}

// nodeRow is a node among others: figures only for those who may see them.
func (c *call) nodeRow(name string) row {
	n := c.s.nodes[name]
	r := row{"id": "node/" + name, "node": name, "type": "node", "status": "offline", "level": ""}
	if n.online {
		r["status"] = "online"
	}
	if !c.may("/nodes/"+name, "Sys.Audit") {
		return r
	}
	r["maxcpu"], r["maxmem"], r["maxdisk"] = n.cpus, n.memory, int64(100)<<30
	if !n.online {
		return r
	}
	r["cpu"], r["mem"], r["disk"], r["uptime"] = 0.05, c.s.usedMemory(name), int64(10)<<30, c.s.nodeUptime(n)
	return r
}

func (s *state) nodeUptime(n *node) int64 { return int64(s.now().Sub(n.started) / time.Second) }

// usedMemory is what the running guests of a node take, and some for the node itself.
func (s *state) usedMemory(node string) int64 {
	used := int64(2) << 30
	for _, g := range s.guests {
		if g.node == node && g.state != stopped {
			used += g.memory() / 3
		}
	}
	return used
}

func (c *call) nodeStatus() (any, error) {
	n := c.s.nodes[c.node()]
	r := releases[string(c.s.version)]
	used := c.s.usedMemory(n.name)
	disk := int64(100) << 30
	return row{
		"uptime": c.s.nodeUptime(n), "idle": 0, "cpu": 0.05, "wait": 0.01, "loadavg": []string{"0.10", "0.05", "0.01"},
		"kversion":       "Linux 6.17.2-1-pve #1 SMP PREEMPT_DYNAMIC",
		"pveversion":     "pve-manager/" + r.version + "/" + r.repoid,
		"current-kernel": row{"sysname": "Linux", "release": "6.17.2-1-pve", "version": "#1 SMP PREEMPT_DYNAMIC", "machine": "x86_64"},
		"boot-info":      row{"mode": "efi"},
		"ksm":            row{"shared": 0},
		"cpuinfo": row{"cpus": n.cpus, "cores": n.cpus, "sockets": 1, "model": "Simulated CPU", "mhz": "3000.000", "user_hz": 100, "hvm": "1",
			"flags": "fpu vme", "vendor": "Simulated", "family": "25"},
		"memory": row{"total": n.memory, "used": used, "free": n.memory - used, "available": n.memory - used},
		"swap":   row{"total": 0, "used": 0, "free": 0},
		"rootfs": row{"total": disk, "used": disk / 10, "avail": disk / 10 * 9, "free": disk / 10 * 9},
	}, nil
}

func (c *call) nodeTime() (any, error) {
	at := c.s.now()
	if zone, err := time.LoadLocation(c.system().timezone); err == nil {
		_, offset := at.In(zone).Zone()
		at = at.Add(time.Duration(offset) * time.Second)
	}
	return row{"timezone": c.system().timezone, "time": c.s.unix(), "localtime": at.Unix()}, nil
}

// mayBelow asks on a path and on those below it that have entries of their own.
func (c *call) mayBelow(path, privileges string) bool {
	if c.may(path, privileges) {
		return true
	}
	for p := range c.s.acl.ACL {
		if len(p) > len(path) && p[:len(path)+1] == path+"/" && c.may(p, privileges) {
			return true
		}
	}
	return false
}

func (c *call) readVersion() (any, error) {
	r := releases[string(c.s.version)]
	return row{"version": r.version, "release": r.release, "repoid": r.repoid}, nil
}
