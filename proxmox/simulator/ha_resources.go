package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/ha"
)

const haFields = "state enum(started stopped enabled disabled ignored); max_restart int(0..); max_relocate int(0..); group configid; comment string(..4096)"

// haEndpoints are HA resources. Source: pve-ha-manager src/PVE/API2/HA/.
func haEndpoints() []*endpoint {
	read, write := need("/", "Sys.Audit"), need("/", "Sys.Console")
	return []*endpoint{
		on("GET /cluster/ha", anyone, "", haIndex),
		on("GET /cluster/ha/resources", read, "type enum(ct vm)", (*call).listHA),
		on("POST /cluster/ha/resources", write, "sid* ha-resource-id; failback bool; type enum(ct vm);"+haFields, (*call).createHA),
		on("GET /cluster/ha/resources/{sid}", read, "", (*call).readHA),
		on("PUT /cluster/ha/resources/{sid}", write, "delete configid-list(..4096); digest string(..64); failback bool;"+haFields, (*call).updateHA),
		on("DELETE /cluster/ha/resources/{sid}", write, "purge bool default=1", (*call).deleteHA),
		on("POST /cluster/ha/resources/{sid}/migrate", write, "node* node", (*call).moveHA),
		on("POST /cluster/ha/resources/{sid}/relocate", write, "node* node", (*call).moveHA),
		on("GET /cluster/ha/status/current", read, "", (*call).haCurrent),
		on("GET /cluster/ha/status/manager_status", read, "", (*call).haManagerStatus),
		on("GET /cluster/ha/status", read, "", index("current manager_status")),
	}
}

func haIndex(c *call) (any, error) {
	names := []string{"groups", "resources", "rules", "status"}
	if c.s.version == access.V8 {
		names = []string{"groups", "resources", "status"}
	}
	rows := []any{}
	for _, n := range names {
		rows = append(rows, row{"id": n})
	}
	return rows, nil
}

// sid is the resource that the call names; a plain number stands for the guest with that ID.
func (c *call) sid() (string, error) {
	sid := c.text("sid")
	if strings.Contains(sid, ":") {
		return sid, nil
	}
	g := c.s.guests[int(atoi64(sid))]
	if g == nil {
		return "", fail("unable to detect SID from VMID - VM/CT %s does not exist", sid)
	}
	return haID(g), nil
}

func (s *state) haDigest() string {
	var b strings.Builder
	for _, sid := range sortedKeys(s.ha.resources) {
		r := s.ha.resources[sid]
		b.WriteString(sid + r.state + digestOf(r.fields))
	}
	return digestText(b.String())
}

func (s *state) haRow(r *haResource) row {
	kind, _, _ := strings.Cut(r.sid, ":")
	data := row{"sid": r.sid, "type": kind, "state": r.state, "digest": s.haDigest()}
	for k, v := range r.fields {
		data[k] = v
		if k != "comment" && k != "group" {
			data[k] = integer(v)
		}
	}
	return data
}

func (c *call) listHA() (any, error) {
	rows := []any{}
	for _, sid := range sortedKeys(c.s.ha.resources) {
		if !c.has("type") || strings.HasPrefix(sid, c.text("type")+":") {
			rows = append(rows, c.s.haRow(c.s.ha.resources[sid]))
		}
	}
	return rows, nil
}

func (c *call) readHA() (any, error) {
	sid, err := c.sid()
	if err != nil {
		return nil, err
	}
	r := c.s.ha.resources[sid]
	if r == nil {
		return nil, fail("no such resource '%s'", sid)
	}
	return c.s.haRow(r), nil
}

// groupsGone refuses groups in 9.x, where rules took their place.
func (c *call) groupsGone() error {
	if c.has("group") && c.s.version != access.V8 {
		return fail("invalid parameter 'group': ha groups have been migrated to rules")
	}
	return nil
}

func (c *call) createHA() (any, error) {
	sid, err := c.sid()
	if err != nil {
		return nil, err
	}
	if err := c.checkHA(sid); err != nil {
		return nil, err
	}
	if err := c.groupsGone(); err != nil {
		return nil, err
	}
	if c.s.guestOfSID(sid) == nil {
		return nil, fail("resource '%s' does not exist in cluster", sid)
	}
	return nil, c.locked(haLock, "create resource failed", func() error {
		if c.s.ha.resources[sid] != nil {
			return fail("resource ID '%s' already defined", sid)
		}
		r := &haResource{sid: sid, state: "started", fields: map[string]string{}}
		c.setHA(r)
		c.s.ha.resources[sid] = r
		c.s.manageSoon()
		return nil
	})
}

// checkHA is what comes first of all.
func (c *call) checkHA(sid string) error {
	if err := c.s.needQuorum(); err != nil {
		return err
	}
	if kind := c.text("type"); kind != "" && !strings.HasPrefix(sid, kind+":") {
		return fail("types does not match")
	}
	return nil
}

func (c *call) setHA(r *haResource) {
	if st := c.text("state"); st != "" {
		r.state = st
		if st == "enabled" {
			r.state = "started"
		}
	}
	for _, k := range []string{"max_restart", "max_relocate", "failback", "comment", "group"} {
		if c.has(k) {
			r.fields[k] = c.text(k)
		}
	}
	for _, k := range c.list("delete") {
		delete(r.fields, k)
		if k == "state" {
			r.state = "started"
		}
	}
}

func (c *call) updateHA() (any, error) {
	sid, err := c.sid()
	if err != nil {
		return nil, err
	}
	if err := c.groupsGone(); err != nil {
		return nil, err
	}
	if g := c.text("group"); g != "" && c.s.ha.groups[g] == nil {
		return nil, fail("HA group '%s' does not exist", g)
	}
	if err := c.s.fixable(sid, c.text("state")); err != nil {
		return nil, err
	}
	return nil, c.locked(haLock, "update resources config failed", func() error {
		if d := c.text("digest"); d != "" && d != c.s.haDigest() {
			return fail("detected modified configuration - file changed by other user? Try again.")
		}
		r := c.s.ha.resources[sid]
		if r == nil {
			return fail("no such resource '%s'", sid)
		}
		c.setHA(r)
		c.s.manageSoon()
		return nil
	})
}

// fixable refuses to ask anything of a service in error but to disable it.
func (s *state) fixable(sid, state string) error {
	if sv := s.ha.services[sid]; sv != nil && sv.State == ha.Error && state != "disabled" {
		return fail("service '%s' in error state, must be disabled and fixed first", sid)
	}
	return nil
}

func (c *call) deleteHA() (any, error) {
	sid, err := c.sid()
	if err != nil {
		return nil, err
	}
	if c.s.ha.resources[sid] == nil {
		return nil, fail("cannot delete service '%s', not HA managed!", sid)
	}
	return nil, c.locked(haLock, "delete resource failed", func() error {
		delete(c.s.ha.resources, sid)
		if c.flag("purge", true) && c.s.version != access.V8 {
			c.s.ha.forget(sid)
		}
		c.s.manageSoon()
		return nil
	})
}

// moveHA queues a command for the manager, which may find that it cannot be.
func (c *call) moveHA() (any, error) {
	sid, err := c.sid()
	if err != nil {
		return nil, err
	}
	if r := c.s.ha.resources[sid]; r == nil || r.state == "ignored" {
		return nil, fail("resource '%s' is not HA managed", sid)
	}
	if err := c.s.fixable(sid, ""); err != nil {
		return nil, err
	}
	kind, node := c.end.path[len(c.end.path)-1], c.text("node")
	affinity := c.s.affinity()
	data := row{"sid": sid, "requested-node": node}
	if with := c.s.managed(affinity.Together(sid)); len(with) > 0 {
		data["comigrated-resources"] = with
	}
	if blocking := affinity.Blocking(sid, node, c.s.ha.services); len(blocking) > 0 && c.s.haNodeState(node) == "online" {
		rows := []any{}
		for _, other := range blocking {
			rows = append(rows, row{"sid": other, "cause": "resource-affinity"})
		}
		data["blocking-resources"] = rows
	}
	c.s.ha.commands = append(c.s.ha.commands, haCommand{kind, sid, node})
	c.s.manageSoon()
	if c.s.version == access.V8 {
		return nil, nil
	}
	return data, nil
}

// managed are those of some services that the manager runs.
func (s *state) managed(sids []string) []string {
	return slices.DeleteFunc(sids, func(sid string) bool { return s.ha.services[sid] == nil })
}
