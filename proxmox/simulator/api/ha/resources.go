package ha

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/ha"
)

const haFields = "state enum(started stopped enabled disabled ignored); max_restart int(0..); max_relocate int(0..); group configid; comment string(..4096)"

// haEndpoints are HA resources. Source: pve-ha-manager src/PVE/API2/HA/.
func haEndpoints() []*core.Endpoint {
	read, write := core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Console")
	return []*core.Endpoint{
		core.On("GET /cluster/ha", core.Anyone, "", haIndex),
		core.On("GET /cluster/ha/resources", read, "type enum(ct vm)", listHA),
		core.On("POST /cluster/ha/resources", write, "sid* ha-resource-id; failback bool; type enum(ct vm);"+haFields, createHA),
		core.On("GET /cluster/ha/resources/{sid}", read, "", readHA),
		core.On("PUT /cluster/ha/resources/{sid}", write, "delete configid-list(..4096); digest string(..64); failback bool;"+haFields, updateHA),
		core.On("DELETE /cluster/ha/resources/{sid}", write, "purge bool default=1", deleteHA),
		core.On("POST /cluster/ha/resources/{sid}/migrate", write, "node* node", moveHA),
		core.On("POST /cluster/ha/resources/{sid}/relocate", write, "node* node", moveHA),
		core.On("GET /cluster/ha/status/current", read, "", haCurrent),
		core.On("GET /cluster/ha/status/manager_status", read, "", haManagerStatus),
		core.On("GET /cluster/ha/status", read, "", core.Index("current manager_status")),
	}
}

func haIndex(c *core.Call) (any, error) {
	names := []string{"groups", "resources", "rules", "status"}
	if c.State.Version == access.V8 {
		names = []string{"groups", "resources", "status"}
	}
	rows := []any{}
	for _, n := range names {
		rows = append(rows, core.Row{"id": n})
	}
	return rows, nil
}

// sid is the resource that the call names; a plain number stands for the guest with that ID.
func sid(c *core.Call) (string, error) {
	sid := c.Text("sid")
	if strings.Contains(sid, ":") {
		return sid, nil
	}
	g := c.State.Guests[int(core.Atoi64(sid))]
	if g == nil {
		return "", core.Fail("unable to detect SID from VMID - VM/CT %s does not exist", sid)
	}
	return core.HAID(g), nil
}

func haDigest(s *core.State) string {
	var b strings.Builder
	for _, sid := range core.SortedKeys(s.HA.Resources) {
		r := s.HA.Resources[sid]
		b.WriteString(sid + r.State + core.DigestOf(r.Fields))
	}
	return core.DigestText(b.String())
}

func haRow(s *core.State, r *core.HAResource) core.Row {
	kind, _, _ := strings.Cut(r.SID, ":")
	data := core.Row{"sid": r.SID, "type": kind, "state": r.State, "digest": haDigest(s)}
	for k, v := range r.Fields {
		data[k] = v
		if k != "comment" && k != "group" {
			data[k] = core.Integer(v)
		}
	}
	return data
}

func listHA(c *core.Call) (any, error) {
	rows := []any{}
	for _, sid := range core.SortedKeys(c.State.HA.Resources) {
		if !c.Has("type") || strings.HasPrefix(sid, c.Text("type")+":") {
			rows = append(rows, haRow(c.State, c.State.HA.Resources[sid]))
		}
	}
	return rows, nil
}

func readHA(c *core.Call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	r := c.State.HA.Resources[sid]
	if r == nil {
		return nil, core.Fail("no such resource '%s'", sid)
	}
	return haRow(c.State, r), nil
}

// groupsGone refuses groups in 9.x, where rules took their place.
func groupsGone(c *core.Call) error {
	if c.Has("group") && c.State.Version != access.V8 {
		return core.Fail("invalid parameter 'group': ha groups have been migrated to rules")
	}
	return nil
}

func createHA(c *core.Call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	if err := checkHA(c, sid); err != nil {
		return nil, err
	}
	if err := groupsGone(c); err != nil {
		return nil, err
	}
	if c.State.GuestOfSID(sid) == nil {
		return nil, core.Fail("resource '%s' does not exist in cluster", sid)
	}
	return nil, c.Locked(core.HALock, "create resource failed", func() error {
		if c.State.HA.Resources[sid] != nil {
			return core.Fail("resource ID '%s' already defined", sid)
		}
		r := &core.HAResource{SID: sid, State: "started", Fields: map[string]string{}}
		setHA(c, r)
		c.State.HA.Resources[sid] = r
		c.State.ManageSoon()
		return nil
	})
}

// checkHA is what comes first of all.
func checkHA(c *core.Call, sid string) error {
	if err := c.State.NeedQuorum(); err != nil {
		return err
	}
	if kind := c.Text("type"); kind != "" && !strings.HasPrefix(sid, kind+":") {
		return core.Fail("types does not match")
	}
	return nil
}

func setHA(c *core.Call, r *core.HAResource) {
	if st := c.Text("state"); st != "" {
		r.State = st
		if st == "enabled" {
			r.State = "started"
		}
	}
	for _, k := range []string{"max_restart", "max_relocate", "failback", "comment", "group"} {
		if c.Has(k) {
			r.Fields[k] = c.Text(k)
		}
	}
	for _, k := range c.List("delete") {
		delete(r.Fields, k)
		if k == "state" {
			r.State = "started"
		}
	}
}

func updateHA(c *core.Call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	if err := groupsGone(c); err != nil {
		return nil, err
	}
	if g := c.Text("group"); g != "" && c.State.HA.Groups[g] == nil {
		return nil, core.Fail("HA group '%s' does not exist", g)
	}
	if err := fixable(c.State, sid, c.Text("state")); err != nil {
		return nil, err
	}
	return nil, c.Locked(core.HALock, "update resources config failed", func() error {
		if d := c.Text("digest"); d != "" && d != haDigest(c.State) {
			return core.Fail("detected modified configuration - file changed by other user? Try again.")
		}
		r := c.State.HA.Resources[sid]
		if r == nil {
			return core.Fail("no such resource '%s'", sid)
		}
		setHA(c, r)
		c.State.ManageSoon()
		return nil
	})
}

// fixable refuses to ask anything of a service in error but to disable it.
func fixable(s *core.State, sid, state string) error {
	if sv := s.HA.Services[sid]; sv != nil && sv.State == ha.Error && state != "disabled" {
		return core.Fail("service '%s' in error state, must be disabled and fixed first", sid)
	}
	return nil
}

func deleteHA(c *core.Call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	if c.State.HA.Resources[sid] == nil {
		return nil, core.Fail("cannot delete service '%s', not HA managed!", sid)
	}
	return nil, c.Locked(core.HALock, "delete resource failed", func() error {
		delete(c.State.HA.Resources, sid)
		if c.Flag("purge", true) && c.State.Version != access.V8 {
			c.State.HA.Forget(sid)
		}
		c.State.ManageSoon()
		return nil
	})
}

// moveHA queues a command for the manager, which may find that it cannot be.
func moveHA(c *core.Call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	if r := c.State.HA.Resources[sid]; r == nil || r.State == "ignored" {
		return nil, core.Fail("resource '%s' is not HA managed", sid)
	}
	if err := fixable(c.State, sid, ""); err != nil {
		return nil, err
	}
	kind, node := c.Endpoint.Path[len(c.Endpoint.Path)-1], c.Text("node")
	affinity := affinity(c.State)
	data := core.Row{"sid": sid, "requested-node": node}
	if with := managed(c.State, affinity.Together(sid)); len(with) > 0 {
		data["comigrated-resources"] = with
	}
	if blocking := affinity.Blocking(sid, node, c.State.HA.Services); len(blocking) > 0 && c.State.HANodeState(node) == "online" {
		rows := []any{}
		for _, other := range blocking {
			rows = append(rows, core.Row{"sid": other, "cause": "resource-affinity"})
		}
		data["blocking-resources"] = rows
	}
	c.State.HA.Commands = append(c.State.HA.Commands, core.HACommand{Kind: kind, SID: sid, Node: node})
	c.State.ManageSoon()
	if c.State.Version == access.V8 {
		return nil, nil
	}
	return data, nil
}

// managed are those of some services that the manager runs.
func managed(s *core.State, sids []string) []string {
	return slices.DeleteFunc(sids, func(sid string) bool { return s.HA.Services[sid] == nil })
}
