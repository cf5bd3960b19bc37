package simulator

import (
	"slices"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
)

// clusterConfigEndpoints are the cluster's own configuration, its log and its schedules, for reading. Source: pve-manager
// PVE/API2/{ClusterConfig,Cluster}.pm.
func clusterConfigEndpoints() []*endpoint {
	audit := need("/", "Sys.Audit")
	return []*endpoint{
		on("GET /cluster/config", audit, "", index("nodes totem join qdevice apiversion")),
		on("GET /cluster/config/apiversion", audit, "", func(*call) (any, error) { return 1, nil }),
		on("GET /cluster/config/nodes", audit, "", (*call).corosyncNodes),
		on("GET /cluster/config/totem", audit, "", (*call).totem),
		on("GET /cluster/config/join", audit, "node node", (*call).joinInfo),
		on("GET /cluster/config/qdevice", audit, "", func(*call) (any, error) { return row{}, nil }),
		on("GET /cluster/log", anyone, "max int(1..)", (*call).clusterLog),
		on("GET /cluster/backup-info", superuser, "", index("not-backed-up")),
		on("GET /cluster/jobs", anyone, "", index("schedule-analyze realm-sync")),
		on("GET /cluster/jobs/schedule-analyze", anyone, "iterations int(1..100); schedule* calendar-event(..128); starttime int", (*call).analyzeSchedule),
	}
}

func (c *call) corosyncRow(name string) row {
	n := c.s.nodes[name]
	return row{"name": name, "node": name, "nodeid": itoa(n.id), "quorum_votes": "1", "ring0_addr": n.address}
}

func (c *call) corosyncNodes() (any, error) {
	rows := []any{}
	for _, name := range c.s.nodeNames() {
		if c.s.cluster != "" {
			rows = append(rows, c.corosyncRow(name))
		}
	}
	return rows, nil
}

func (c *call) totem() (any, error) {
	if c.s.cluster == "" {
		return row{}, nil
	}
	return row{"cluster_name": c.s.cluster, "config_version": "1", "interface": row{"0": row{"linknumber": "0"}}, "ip_version": "ipv4-6", "link_mode": "passive", "secauth": "on", "version": "2"}, nil
}

func (c *call) joinInfo() (any, error) {
	if c.s.cluster == "" {
		return nil, fail("node is not in a cluster, no join info available!")
	}
	rows := []any{}
	for _, name := range c.s.nodeNames() {
		r := c.corosyncRow(name)
		delete(r, "node")
		r["pve_addr"], r["pve_fp"] = c.s.nodes[name].address, c.s.nodes[name].fingerprint
		rows = append(rows, r)
	}
	totem, _ := c.totem()
	return row{"config_digest": digestText(c.s.cluster), "nodelist": rows, "preferred_node": or(c.text("node"), c.s.local), "totem": totem}, nil
}

// clusterLog are the newest entries of the cluster's log; without Sys.Audit only one's own.
func (c *call) clusterLog() (any, error) {
	rows := []any{}
	most := c.number("max", 50)
	for i, t := range slices.Backward(c.s.tasks) {
		if len(rows) == most {
			break
		}
		if c.may("/", "Sys.Audit") || t.user == c.user {
			rows = append(rows, row{"uid": i + 1, "node": t.node, "pid": t.pid, "pri": 6, "tag": "pvedaemon", "time": t.started.Unix(), "user": t.owner(), "msg": "starting task " + t.upid})
		}
	}
	return rows, nil
}

func (c *call) analyzeSchedule() (any, error) {
	e, err := calendar.Parse(c.text("schedule"))
	if err != nil {
		return nil, invalid("schedule", "invalid format - invalid calendar event '%s' - unable to parse calendar event\n", c.text("schedule"))
	}
	at := time.Unix(int64(c.number("starttime", int(c.s.unix()))), 0)
	rows := []any{}
	for range c.number("iterations", 10) {
		next, ok := e.Next(at)
		if !ok {
			break
		}
		rows = append(rows, row{"timestamp": next.Unix(), "utc": next.UTC().Format("Mon Jan  2 15:04:05 2006")})
		at = next
	}
	return rows, nil
}
