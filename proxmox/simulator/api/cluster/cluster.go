package cluster

import (
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/api/nodes"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/schema"
)

// clusterEndpoints are what any node answers about the whole cluster. Source: pve-manager PVE/API2/Cluster.pm.
func clusterEndpoints() []*core.Endpoint {
	return []*core.Endpoint{
		core.On("GET /version", core.Anyone, "", nodes.ReadVersion),
		core.On("GET /cluster", core.Anyone, "", core.Index("acme backup backup-info ceph config firewall ha jobs log mapping metrics nextid notifications options replication resources sdn status tasks")),
		core.On("GET /cluster/status", core.Need("/", "Sys.Audit"), "", clusterStatus),
		core.On("GET /cluster/nextid", core.Anyone, "vmid vmid", nextID),
		core.On("GET /cluster/resources", core.Anyone, "type enum(vm storage node sdn)", listResources),
		core.On("GET /cluster/options", core.Anyone, "", readOptions),
		core.On("PUT /cluster/options", core.Need("/", "Sys.Modify"), "delete configid-list;"+datacenterOptions, updateOptions),
		core.On("GET /cluster/tasks", core.Anyone, "", nodes.ClusterTasks),
	}
}

func clusterStatus(c *core.Call) (any, error) {
	s := c.State
	rows := []any{}
	if s.Cluster != "" {
		rows = append(rows, core.Row{"type": "cluster", "id": "cluster", "name": s.Cluster, "nodes": len(s.Nodes), "version": 1, "quorate": core.Bit(s.Quorate())})
	}
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		r := core.Row{"type": "node", "id": "node/" + name, "name": name, "nodeid": n.ID, "online": core.Bit(n.Online), "local": core.Bit(name == s.Local), "level": ""}
		if s.Cluster == "" {
			r["nodeid"] = 0
		}
		if n.Address != "" {
			r["ip"] = n.Address
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func nextID(c *core.Call) (any, error) {
	if c.Has("vmid") {
		vmid := c.VMID()
		if c.State.Guests[vmid] != nil {
			return nil, core.Invalid("vmid", "VM %d already exists", vmid)
		}
		return core.Itoa(vmid), nil
	}
	from, to := idRange(c.State)
	for id := from; id < to; id++ {
		if c.State.Guests[id] == nil {
			return core.Itoa(id), nil
		}
	}
	return nil, core.Fail("unable to get any free VMID in range [%d, %d]", from, to)
}

// idRange is the range of the datacenter option next-id, upper end not included.
func idRange(s *core.State) (from, to int) {
	from, to = 100, 1000000
	for _, part := range strings.Split(s.Options["next-id"], ",") {
		k, v, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(v)
		switch {
		case err != nil:
		case k == "lower":
			from = n
		case k == "upper":
			to = n
		}
	}
	return from, to
}

// Formats of options of the cluster and of jobs that are property strings. Source: pve-cluster src/PVE/DataCenterConfig.pm.
var (
	_ = schema.Define("bwlimit", "clone num(0..); default num(0..); migration num(0..); move num(0..); restore num(0..)")
	_ = schema.Define("crs", `ha enum(basic static dynamic); ha-auto-rebalance bool; ha-auto-rebalance-hold-duration num(0..); ha-auto-rebalance-margin num(0..100);
		ha-auto-rebalance-method enum(bruteforce topsis); ha-auto-rebalance-threshold num(0..100); ha-rebalance-on-start bool`)
	_ = schema.Define("ha-options", "shutdown_policy* enum(freeze failover conditional migrate)")
	_ = schema.Define("migration", "type* enum(secure insecure) default-key; network cidr")
	_ = schema.Define("next-id", "lower int; upper int")
	_ = schema.Define("notify", `fencing enum(always never); package-updates enum(auto always never); replication enum(always never); target-fencing string; target-package-updates string;
		target-replication string`)
	_ = schema.Define("tag-style", `case-sensitive bool; color-map string(/(?:(?i:[a-z0-9_][a-z0-9_+.-]*):[0-9a-fA-F]{6}(?::[0-9a-fA-F]{6})?)(?:;(?i:[a-z0-9_][a-z0-9_+.-]*):[0-9a-fA-F]{6}(?::[0-9a-fA-F]{6})?)*/);
		ordering enum(config alphabetical); shape enum(full circle dense none)`)
	_ = schema.Define("u2f", "appid string; origin string")
	_ = schema.Define("user-tag-access", "user-allow enum(none list existing free); user-allow-list string(/(?i:[a-z0-9_][a-z0-9_+.-]*)(?:;(?i:[a-z0-9_][a-z0-9_+.-]*))*/)")
	_ = schema.Define("webauthn", "allow-subdomains bool; id string; origin string; rp string")
)
