package cluster

import (
	"slices"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
	"kubehenge.dev/proxmox/simulator/core"
)

// clusterConfigEndpoints are the cluster's own configuration, its log and its schedules, for reading. Source: pve-manager
// PVE/API2/{ClusterConfig,Cluster}.pm.
func clusterConfigEndpoints() []*core.Endpoint {
	audit := core.Need("/", "Sys.Audit")
	return []*core.Endpoint{
		core.On("GET /cluster/config", audit, "", core.Index("nodes totem join qdevice apiversion")),
		core.On("GET /cluster/config/apiversion", audit, "", func(*core.Call) (any, error) { return 1, nil }),
		core.On("GET /cluster/config/nodes", audit, "", corosyncNodes),
		core.On("GET /cluster/config/totem", audit, "", totem),
		core.On("GET /cluster/config/join", audit, "node node", joinInfo),
		core.On("GET /cluster/config/qdevice", audit, "", func(*core.Call) (any, error) { return core.Row{}, nil }),
		core.On("GET /cluster/log", core.Anyone, "max int(1..)", clusterLog),
		core.On("GET /cluster/backup-info", core.Superuser, "", core.Index("not-backed-up")),
		core.On("GET /cluster/jobs", core.Anyone, "", core.Index("schedule-analyze realm-sync")),
		core.On("GET /cluster/jobs/schedule-analyze", core.Anyone, "iterations int(1..100); schedule* calendar-event(..128); starttime int", analyzeSchedule),
	}
}

func corosyncRow(c *core.Call, name string) core.Row {
	n := c.State.Nodes[name]
	return core.Row{"name": name, "node": name, "nodeid": core.Itoa(n.ID), "quorum_votes": "1", "ring0_addr": n.Address}
}

func corosyncNodes(c *core.Call) (any, error) {
	rows := []any{}
	for _, name := range c.State.NodeNames() {
		if c.State.Cluster != "" {
			rows = append(rows, corosyncRow(c, name))
		}
	}
	return rows, nil
}

func totem(c *core.Call) (any, error) {
	if c.State.Cluster == "" {
		return core.Row{}, nil
	}
	return core.Row{"cluster_name": c.State.Cluster, "config_version": "1", "interface": core.Row{"0": core.Row{"linknumber": "0"}}, "ip_version": "ipv4-6", "link_mode": "passive", "secauth": "on", "version": "2"}, nil
}

func joinInfo(c *core.Call) (any, error) {
	if c.State.Cluster == "" {
		return nil, core.Fail("node is not in a cluster, no join info available!")
	}
	rows := []any{}
	for _, name := range c.State.NodeNames() {
		r := corosyncRow(c, name)
		delete(r, "node")
		r["pve_addr"], r["pve_fp"] = c.State.Nodes[name].Address, c.State.Nodes[name].Fingerprint
		rows = append(rows, r)
	}
	totem, _ := totem(c)
	return core.Row{"config_digest": core.DigestText(c.State.Cluster), "nodelist": rows, "preferred_node": core.Or(c.Text("node"), c.State.Local), "totem": totem}, nil
}

// clusterLog are the newest entries of the cluster's log; without Sys.Audit only one's own.
func clusterLog(c *core.Call) (any, error) {
	rows := []any{}
	most := c.Number("max", 50)
	for i, t := range slices.Backward(c.State.Tasks) {
		if len(rows) == most {
			break
		}
		if c.May("/", "Sys.Audit") || t.User == c.User {
			rows = append(rows, core.Row{"uid": i + 1, "node": t.Node, "pid": t.PID, "pri": 6, "tag": "pvedaemon", "time": t.Started.Unix(), "user": t.Owner(), "msg": "starting task " + t.UPID})
		}
	}
	return rows, nil
}

func analyzeSchedule(c *core.Call) (any, error) {
	e, err := calendar.Parse(c.Text("schedule"))
	if err != nil {
		return nil, core.Invalid("schedule", "invalid format - invalid calendar event '%s' - unable to parse calendar event\n", c.Text("schedule"))
	}
	at := time.Unix(int64(c.Number("starttime", int(c.State.Unix()))), 0)
	rows := []any{}
	for range c.Number("iterations", 10) {
		next, ok := e.Next(at)
		if !ok {
			break
		}
		rows = append(rows, core.Row{"timestamp": next.Unix(), "utc": next.UTC().Format("Mon Jan  2 15:04:05 2006")})
		at = next
	}
	return rows, nil
}
