package nodes

import (
	"time"

	"kubehenge.dev/proxmox/simulator/core"
)

// nodeEndpoints are nodes.
func nodeEndpoints() []*core.Endpoint {
	audit := core.Need("/nodes/{node}", "Sys.Audit")
	return []*core.Endpoint{
		core.On("GET /nodes", core.Anyone, "", listNodes),
		core.On("GET /nodes/{node}", core.Anyone, "", core.Index("aplinfo apt capabilities ceph certificates config disks dns firewall hosts journal lxc network qemu replication report rrd rrddata scan sdn services status storage subscription syslog tasks time version vzdump")),
		core.On("GET /nodes/{node}/status", audit, "", nodeStatus),
		core.On("GET /nodes/{node}/version", core.Anyone, "", ReadVersion),
		core.On("GET /nodes/{node}/time", audit, "", nodeTime),
	}
}

func listNodes(c *core.Call) (any, error) {
	rows := []any{}
	for _, name := range c.State.NodeNames() {
		r := NodeRow(c, name)
		r["ssl_fingerprint"] = c.State.Nodes[name].Fingerprint
		rows = append(rows, r)
	}
	return rows, nil
}

// NodeRow is a node among others: figures only for those who may see them.
func NodeRow(c *core.Call, name string) core.Row {
	n := c.State.Nodes[name]
	r := core.Row{"id": "node/" + name, "node": name, "type": "node", "status": "offline", "level": ""}
	if n.Online {
		r["status"] = "online"
	}
	if !c.May("/nodes/"+name, "Sys.Audit") {
		return r
	}
	r["maxcpu"], r["maxmem"], r["maxdisk"] = n.CPUs, n.Memory, int64(100)<<30
	if !n.Online {
		return r
	}
	r["cpu"], r["mem"], r["disk"], r["uptime"] = 0.05, usedMemory(c.State, name), int64(10)<<30, nodeUptime(c.State, n)
	return r
}

func nodeUptime(s *core.State, n *core.Node) int64 {
	return int64(s.Now().Sub(n.Started) / time.Second)
}

// usedMemory is what the running guests of a node take, and some for the node itself.
func usedMemory(s *core.State, node string) int64 {
	used := int64(2) << 30
	for _, g := range s.Guests {
		if g.Node == node && g.State != core.Stopped {
			used += g.Memory() / 3
		}
	}
	return used
}

func nodeStatus(c *core.Call) (any, error) {
	n := c.State.Nodes[c.Node()]
	r := core.Releases[string(c.State.Version)]
	used := usedMemory(c.State, n.Name)
	disk := int64(100) << 30
	return core.Row{
		"uptime": nodeUptime(c.State, n), "idle": 0, "cpu": 0.05, "wait": 0.01, "loadavg": []string{"0.10", "0.05", "0.01"},
		"kversion":       "Linux 6.17.2-1-pve #1 SMP PREEMPT_DYNAMIC",
		"pveversion":     "pve-manager/" + r.Version + "/" + r.RepoID,
		"current-kernel": core.Row{"sysname": "Linux", "release": "6.17.2-1-pve", "version": "#1 SMP PREEMPT_DYNAMIC", "machine": "x86_64"},
		"boot-info":      core.Row{"mode": "efi"},
		"ksm":            core.Row{"shared": 0},
		"cpuinfo": core.Row{"cpus": n.CPUs, "cores": n.CPUs, "sockets": 1, "model": "Simulated CPU", "mhz": "3000.000", "user_hz": 100, "hvm": "1",
			"flags": "fpu vme", "vendor": "Simulated", "family": "25"},
		"memory": core.Row{"total": n.Memory, "used": used, "free": n.Memory - used, "available": n.Memory - used},
		"swap":   core.Row{"total": 0, "used": 0, "free": 0},
		"rootfs": core.Row{"total": disk, "used": disk / 10, "avail": disk / 10 * 9, "free": disk / 10 * 9},
	}, nil
}

func nodeTime(c *core.Call) (any, error) {
	at := c.State.Now()
	if zone, err := time.LoadLocation(system(c).Timezone); err == nil {
		_, offset := at.In(zone).Zone()
		at = at.Add(time.Duration(offset) * time.Second)
	}
	return core.Row{"timezone": system(c).Timezone, "time": c.State.Unix(), "localtime": at.Unix()}, nil
}

// mayBelow asks on a path and on those below it that have entries of their own.
func mayBelow(c *core.Call, path, privileges string) bool {
	if c.May(path, privileges) {
		return true
	}
	for p := range c.State.ACL.ACL {
		if len(p) > len(path) && p[:len(path)+1] == path+"/" && c.May(p, privileges) {
			return true
		}
	}
	return false
}

// ReadVersion answers with the version of Proxmox VE.
func ReadVersion(c *core.Call) (any, error) {
	r := core.Releases[string(c.State.Version)]
	return core.Row{"version": r.Version, "release": r.Release, "repoid": r.RepoID}, nil
}
