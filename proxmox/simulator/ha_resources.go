package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/ha"
)

const haFields = "state enum(started stopped enabled disabled ignored); max_restart int(0..); max_relocate int(0..); group configid; comment string(..4096)"

// haEndpoints are HA resources. Source: pve-ha-manager src/PVE/API2/HA/.
func haEndpoints() []*Endpoint {
	read, write := Need("/", "Sys.Audit"), Need("/", "Sys.Console")
	return []*Endpoint{
		On("GET /cluster/ha", Anyone, "", haIndex),
		On("GET /cluster/ha/resources", read, "type enum(ct vm)", listHA),
		On("POST /cluster/ha/resources", write, "sid* ha-resource-id; failback bool; type enum(ct vm);"+haFields, createHA),
		On("GET /cluster/ha/resources/{sid}", read, "", readHA),
		On("PUT /cluster/ha/resources/{sid}", write, "delete configid-list(..4096); digest string(..64); failback bool;"+haFields, updateHA),
		On("DELETE /cluster/ha/resources/{sid}", write, "purge bool default=1", deleteHA),
		On("POST /cluster/ha/resources/{sid}/migrate", write, "node* node", moveHA),
		On("POST /cluster/ha/resources/{sid}/relocate", write, "node* node", moveHA),
		On("GET /cluster/ha/status/current", read, "", haCurrent),
		On("GET /cluster/ha/status/manager_status", read, "", haManagerStatus),
		On("GET /cluster/ha/status", read, "", Index("current manager_status")),
	}
}

func haIndex(c *call) (any, error) {
	names := []string{"groups", "resources", "rules", "status"}
	if c.State.Version == access.V8 {
		names = []string{"groups", "resources", "status"}
	}
	rows := []any{}
	for _, n := range names {
		rows = append(rows, Row{"id": n})
	}
	return rows, nil
}

// sid is the resource that the call names; a plain number stands for the guest with that ID.
func sid(c *call) (string, error) {
	sid := c.Text("sid")
	if strings.Contains(sid, ":") {
		return sid, nil
	}
	g := c.State.Guests[int(Atoi64(sid))]
	if g == nil {
		return "", Fail("unable to detect SID from VMID - VM/CT %s does not exist", sid)
	}
	return HAID(g), nil
}

func haDigest(s *State) string {
	var b strings.Builder
	for _, sid := range SortedKeys(s.HA.Resources) {
		r := s.HA.Resources[sid]
		b.WriteString(sid + r.State + DigestOf(r.Fields))
	}
	return DigestText(b.String())
}

func haRow(s *State, r *HAResource) Row {
	kind, _, _ := strings.Cut(r.SID, ":")
	data := Row{"sid": r.SID, "type": kind, "state": r.State, "digest": haDigest(s)}
	for k, v := range r.Fields {
		data[k] = v
		if k != "comment" && k != "group" {
			data[k] = Integer(v)
		}
	}
	return data
}

func listHA(c *call) (any, error) {
	rows := []any{}
	for _, sid := range SortedKeys(c.State.HA.Resources) {
		if !c.Has("type") || strings.HasPrefix(sid, c.Text("type")+":") {
			rows = append(rows, haRow(c.State, c.State.HA.Resources[sid]))
		}
	}
	return rows, nil
}

func readHA(c *call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	r := c.State.HA.Resources[sid]
	if r == nil {
		return nil, Fail("no such resource '%s'", sid)
	}
	return haRow(c.State, r), nil
}

// groupsGone refuses groups in 9.x, where rules took their place.
func groupsGone(c *call) error {
	if c.Has("group") && c.State.Version != access.V8 {
		return Fail("invalid parameter 'group': ha groups have been migrated to rules")
	}
	return nil
}

func createHA(c *call) (any, error) {
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
		return nil, Fail("resource '%s' does not exist in cluster", sid)
	}
	return nil, c.Locked(HALock, "create resource failed", func() error {
		if c.State.HA.Resources[sid] != nil {
			return Fail("resource ID '%s' already defined", sid)
		}
		r := &HAResource{SID: sid, State: "started", Fields: map[string]string{}}
		setHA(c, r)
		c.State.HA.Resources[sid] = r
		c.State.ManageSoon()
		return nil
	})
}

// checkHA is what comes first of all.
func checkHA(c *call, sid string) error {
	if err := c.State.NeedQuorum(); err != nil {
		return err
	}
	if kind := c.Text("type"); kind != "" && !strings.HasPrefix(sid, kind+":") {
		return Fail("types does not match")
	}
	return nil
}

func setHA(c *call, r *HAResource) {
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

func updateHA(c *call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	if err := groupsGone(c); err != nil {
		return nil, err
	}
	if g := c.Text("group"); g != "" && c.State.HA.Groups[g] == nil {
		return nil, Fail("HA group '%s' does not exist", g)
	}
	if err := fixable(c.State, sid, c.Text("state")); err != nil {
		return nil, err
	}
	return nil, c.Locked(HALock, "update resources config failed", func() error {
		if d := c.Text("digest"); d != "" && d != haDigest(c.State) {
			return Fail("detected modified configuration - file changed by other user? Try again.")
		}
		r := c.State.HA.Resources[sid]
		if r == nil {
			return Fail("no such resource '%s'", sid)
		}
		setHA(c, r)
		c.State.ManageSoon()
		return nil
	})
}

// fixable refuses to ask anything of a service in error but to disable it.
func fixable(s *State, sid, state string) error {
	if sv := s.HA.Services[sid]; sv != nil && sv.State == ha.Error && state != "disabled" {
		return Fail("service '%s' in error state, must be disabled and fixed first", sid)
	}
	return nil
}

func deleteHA(c *call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	if c.State.HA.Resources[sid] == nil {
		return nil, Fail("cannot delete service '%s', not HA managed!", sid)
	}
	return nil, c.Locked(HALock, "delete resource failed", func() error {
		delete(c.State.HA.Resources, sid)
		if c.Flag("purge", true) && c.State.Version != access.V8 {
			c.State.HA.Forget(sid)
		}
		c.State.ManageSoon()
		return nil
	})
}

// moveHA queues a command for the manager, which may find that it cannot be.
func moveHA(c *call) (any, error) {
	sid, err := sid(c)
	if err != nil {
		return nil, err
	}
	if r := c.State.HA.Resources[sid]; r == nil || r.State == "ignored" {
		return nil, Fail("resource '%s' is not HA managed", sid)
	}
	if err := fixable(c.State, sid, ""); err != nil {
		return nil, err
	}
	kind, node := c.Endpoint.Path[len(c.Endpoint.Path)-1], c.Text("node")
	affinity := affinity(c.State)
	data := Row{"sid": sid, "requested-node": node}
	if with := managed(c.State, affinity.Together(sid)); len(with) > 0 {
		data["comigrated-resources"] = with
	}
	if blocking := affinity.Blocking(sid, node, c.State.HA.Services); len(blocking) > 0 && c.State.HANodeState(node) == "online" {
		rows := []any{}
		for _, other := range blocking {
			rows = append(rows, Row{"sid": other, "cause": "resource-affinity"})
		}
		data["blocking-resources"] = rows
	}
	c.State.HA.Commands = append(c.State.HA.Commands, HACommand{kind, sid, node})
	c.State.ManageSoon()
	if c.State.Version == access.V8 {
		return nil, nil
	}
	return data, nil
}

// managed are those of some services that the manager runs.
func managed(s *State, sids []string) []string {
	return slices.DeleteFunc(sids, func(sid string) bool { return s.HA.Services[sid] == nil })
}
