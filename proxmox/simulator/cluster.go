package simulator

import (
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
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

// releases are the versions that a simulated node has.
var releases = map[string]struct{ version, release, repoid string }{
	"9.2": {"9.2.11", "9.2", "14a22df3"},
	"8.4": {"8.4.21", "8.4", "e4f7a7c1"},
}

func (c *call) readVersion() (any, error) {
	r := releases[string(c.s.version)]
	return row{"version": r.version, "release": r.release, "repoid": r.repoid}, nil
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

// quorate tells whether more than half of the nodes are on.
func (s *state) quorate() bool {
	on := 0
	for _, n := range s.nodes {
		on += bit(n.online)
	}
	return s.cluster == "" || 2*on > len(s.nodes)
}

// needQuorum is the answer of calls that test for quorum first.
func (s *state) needQuorum() error {
	if s.quorate() {
		return nil
	}
	return fail("cluster not ready - no quorum?")
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

func (c *call) listResources() (any, error) {
	kind := c.text("type")
	rows := []any{}
	lists := []struct {
		kind string
		list func(*call) []any
	}{
		{"", (*call).poolResources}, {"vm", (*call).guestResources}, {"node", (*call).nodeResources}, {"storage", (*call).storageResources}, {"sdn", (*call).zoneResources},
	}
	for _, l := range lists {
		if kind == "" || kind == l.kind {
			rows = append(rows, l.list(c)...)
		}
	}
	return rows, nil
}

func (c *call) guestResources() []any {
	rows := []any{}
	for _, vmid := range c.s.vmids() {
		g := c.s.guests[vmid]
		if !c.may("/vms/"+itoa(vmid), "VM.Audit") {
			continue
		}
		r := c.s.guestRow(g)
		r.Tags, r.Lock = g.conf["tags"], g.lock()
		if pool := c.s.acl.PoolOf(vmid); pool != "" && c.may("/pool/"+pool, "Pool.Audit") {
			r.Pool = pool
		}
		r.HAState = c.s.haState(g)
		rows = append(rows, r)
	}
	return rows
}

func (c *call) poolResources() []any {
	rows := []any{}
	for _, id := range sortedKeys(c.s.acl.Pools) {
		if c.may("/pool/"+id, "Pool.Audit") {
			rows = append(rows, row{"id": "/pool/" + id, "pool": id, "type": "pool"})
		}
	}
	return rows
}

func (c *call) nodeResources() []any {
	rows := []any{}
	for _, name := range c.s.nodeNames() {
		r := c.nodeRow(name)
		r["cgroup-mode"] = 2
		if state := c.s.haNodeState(name); state != "" {
			r["hastate"] = state
		}
		rows = append(rows, r)
	}
	return rows
}

func (c *call) storageResources() []any {
	rows := []any{}
	for _, node := range c.s.nodeNames() {
		for _, name := range sortedKeys(c.s.storages) {
			st := c.s.storages[name]
			if st.on(node) && !st.disabled && c.may("/storage/"+name, "Datastore.Audit") {
				rows = append(rows, c.s.storageRow(st, node))
			}
		}
	}
	return rows
}

func (c *call) zoneResources() []any {
	rows := []any{}
	for _, z := range sortedKeys(c.s.sdn.Running.Zones) {
		if !c.may("/sdn/zones/"+z, "SDN.Audit") {
			continue
		}
		for _, n := range c.s.nodeNames() {
			if c.s.sdn.Running.On(n, z) {
				rows = append(rows, row{"id": "sdn/" + n + "/" + z, "type": "sdn", "sdn": z, "node": n, "status": "available"})
			}
		}
	}
	return rows
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

// datacenterOptions are the options of the whole cluster that may be set.
const datacenterOptions = `bwlimit bwlimit; consent-text string(..65536); console enum(applet vv html5 xtermjs); crs crs; description string(..65536); email_from email-opt;
fencing enum(watchdog hardware both); ha ha-options; http_proxy string(/http:\/\/.*/); keyboard ` + guestconf.Keyboards + `;
language enum(ar ca da de en es eu fa fr hr he it ja ka kr nb nl nn pl pt_BR ru sl sv tr ukr zh_CN zh_TW); location string; mac_prefix mac-prefix; max_workers int(1..);
migration migration; migration_unsecure bool; next-id next-id; notify notify; registered-tags string(/(?:(?i:[a-z0-9_][a-z0-9_+.-]*);)*(?i:[a-z0-9_][a-z0-9_+.-]*)/);
replication migration; tag-style tag-style; u2f u2f; user-tag-access user-tag-access; webauthn webauthn`

// objectOptions are read back as objects.
var objectOptions = map[string]bool{"migration": true, "ha": true, "next-id": true, "tag-style": true, "user-tag-access": true, "webauthn": true, "crs": true, "notify": true, "replication": true, "u2f": true}

func (c *call) readOptions() (any, error) {
	s := c.s
	data := row{"allowed-tags": schema.SplitList(s.options["registered-tags"])}
	full := c.may("/", "Sys.Audit")
	if full {
		data["mac_prefix"], data["description"] = "BC:24:11", ""
	}
	for k, v := range s.options {
		switch {
		case !full && k != "console" && k != "tag-style":
		case objectOptions[k]:
			data[k] = objectOf(v)
		case k == "registered-tags":
			data[k] = schema.SplitList(v)
		default:
			data[k] = v
		}
	}
	return data, nil
}

func objectOf(text string) row {
	data := row{}
	for _, part := range strings.Split(text, ",") {
		k, v, _ := strings.Cut(part, "=")
		data[k] = v
	}
	return data
}

func (c *call) updateOptions() (any, error) {
	for _, k := range c.list("delete") {
		delete(c.s.options, k)
	}
	for k := range c.params {
		if k != "delete" {
			c.s.options[k] = c.text(k)
		}
	}
	return nil, nil
}
