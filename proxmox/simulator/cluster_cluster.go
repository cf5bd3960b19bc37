package simulator

import (
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/schema"
)

// clusterEndpoints are what any node answers about the whole cluster. Source: pve-manager PVE/API2/Cluster.pm.
func clusterEndpoints() []*endpoint {
	return []*endpoint{
		on("GET /version", anyone, "", (*call).readVersion),
		on("GET /cluster", anyone, "", index("acme backup backup-info ceph config firewall ha jobs log mapping metrics nextid notifications options replication resources sdn status tasks")),
		on("GET /cluster/status", need("/", "Sys.Audit"), "", (*call).clusterStatus),
		on("GET /cluster/nextid", anyone, "vmid vmid", (*call).nextID),
		on("GET /cluster/resources", anyone, "type enum(vm storage node sdn)", (*call).listResources),
		on("GET /cluster/options", anyone, "", (*call).readOptions),
		on("PUT /cluster/options", need("/", "Sys.Modify"), "delete configid-list;"+datacenterOptions, (*call).updateOptions),
		on("GET /cluster/tasks", anyone, "", (*call).clusterTasks),
	}
}

func (c *call) clusterStatus() (any, error) {
	s := c.s
	rows := []any{}
	if s.cluster != "" {
		rows = append(rows, row{"type": "cluster", "id": "cluster", "name": s.cluster, "nodes": len(s.nodes), "version": 1, "quorate": bit(s.quorate())})
	}
	for _, name := range s.nodeNames() {
		n := s.nodes[name]
		r := row{"type": "node", "id": "node/" + name, "name": name, "nodeid": n.id, "online": bit(n.online), "local": bit(name == s.local), "level": ""}
		if s.cluster == "" {
			r["nodeid"] = 0
		}
		if n.address != "" {
			r["ip"] = n.address
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (c *call) nextID() (any, error) {
	if c.has("vmid") {
		vmid := c.vmid()
		if c.s.guests[vmid] != nil {
			return nil, invalid("vmid", "VM %d already exists", vmid)
		}
		return itoa(vmid), nil
	}
	from, to := c.s.idRange()
	for id := from; id < to; id++ {
		if c.s.guests[id] == nil {
			return itoa(id), nil
		}
	}
	return nil, fail("unable to get any free VMID in range [%d, %d]", from, to)
}

// idRange is the range of the datacenter option next-id, upper end not included.
func (s *state) idRange() (from, to int) {
	from, to = 100, 1000000
	for _, part := range strings.Split(s.options["next-id"], ",") {
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
