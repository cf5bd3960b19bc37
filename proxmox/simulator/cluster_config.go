package simulator

import (
	"slices"
	"time"

	"kubehenge.dev/proxmox/simulator/calendar"
)

// clusterConfigEndpoints are the cluster's own configuration, its log and its schedules, for reading. Source: pve-manager
// PVE/API2/{ClusterConfig,Cluster}.pm.
func clusterConfigEndpoints() []*Endpoint {
	audit := Need("/", "Sys.Audit")
	return []*Endpoint{
		On("GET /cluster/config", audit, "", Index("nodes totem join qdevice apiversion")),
		On("GET /cluster/config/apiversion", audit, "", func(*call) (any, error) { return 1, nil }),
		On("GET /cluster/config/nodes", audit, "", corosyncNodes),
		On("GET /cluster/config/totem", audit, "", totem),
		On("GET /cluster/config/join", audit, "node node", joinInfo),
		On("GET /cluster/config/qdevice", audit, "", func(*call) (any, error) { return Row{}, nil }),
		On("GET /cluster/log", Anyone, "max int(1..)", clusterLog),
		On("GET /cluster/backup-info", Superuser, "", Index("not-backed-up")),
		On("GET /cluster/jobs", Anyone, "", Index("schedule-analyze realm-sync")),
		On("GET /cluster/jobs/schedule-analyze", Anyone, "iterations int(1..100); schedule* calendar-event(..128); starttime int", analyzeSchedule),
	}
}

func corosyncRow(c *call, name string) Row {
	n := c.State.Nodes[name]
	return Row{"name": name, "node": name, "nodeid": Itoa(n.ID), "quorum_votes": "1", "ring0_addr": n.Address}
}

func corosyncNodes(c *call) (any, error) {
	rows := []any{}
	for _, name := range c.State.NodeNames() {
		if c.State.Cluster != "" {
			rows = append(rows, corosyncRow(c, name))
		}
	}
	return rows, nil
}

func totem(c *call) (any, error) {
	if c.State.Cluster == "" {
		return Row{}, nil
	}
	return Row{"cluster_name": c.State.Cluster, "config_version": "1", "interface": Row{"0": Row{"linknumber": "0"}}, "ip_version": "ipv4-6", "link_mode": "passive", "secauth": "on", "version": "2"}, nil
}

func joinInfo(c *call) (any, error) {
	if c.State.Cluster == "" {
		return nil, Fail("node is not in a cluster, no join info available!")
	}
	rows := []any{}
	for _, name := range c.State.NodeNames() {
		r := corosyncRow(c, name)
		delete(r, "node")
		r["pve_addr"], r["pve_fp"] = c.State.Nodes[name].Address, c.State.Nodes[name].Fingerprint
		rows = append(rows, r)
	}
	totem, _ := totem(c)
	return Row{"config_digest": DigestText(c.State.Cluster), "nodelist": rows, "preferred_node": Or(c.Text("node"), c.State.Local), "totem": totem}, nil
}

// clusterLog are the newest entries of the cluster's log; without Sys.Audit only one's own.
func clusterLog(c *call) (any, error) {
	rows := []any{}
	most := c.Number("max", 50)
	for i, t := range slices.Backward(c.State.Tasks) {
		if len(rows) == most {
			break
		}
		if c.May("/", "Sys.Audit") || t.User == c.User {
			rows = append(rows, Row{"uid": i + 1, "node": t.Node, "pid": t.PID, "pri": 6, "tag": "pvedaemon", "time": t.Started.Unix(), "user": t.Owner(), "msg": "starting task " + t.UPID})
		}
	}
	return rows, nil
}

func analyzeSchedule(c *call) (any, error) {
	e, err := calendar.Parse(c.Text("schedule"))
	if err != nil {
		return nil, Invalid("schedule", "invalid format - invalid calendar event '%s' - unable to parse calendar event\n", c.Text("schedule"))
	}
	at := time.Unix(int64(c.Number("starttime", int(c.State.Unix()))), 0)
	rows := []any{}
	for range c.Number("iterations", 10) {
		next, ok := e.Next(at)
		if !ok {
			break
		}
		rows = append(rows, Row{"timestamp": next.Unix(), "utc": next.UTC().Format("Mon Jan  2 15:04:05 2006")})
		at = next
	}
	return rows, nil
}
