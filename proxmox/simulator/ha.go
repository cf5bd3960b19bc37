package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/schema"
)

// haResource is a guest that the HA manager looks after.
type haResource struct {
	sid    string
	state  string            // what is asked for: started, stopped, disabled, ignored
	fields map[string]string // max_restart, max_relocate, failback, comment, group: as far as they were set
}

// haState is what the HA manager knows.
type haState struct {
	resources map[string]*haResource
	rules     []*haRule
	groups    map[string]map[string]string // 8.4
	services  map[string]*haService
	commands  map[string]string // service -> node it was asked to go to
}

func newHA() haState {
	return haState{resources: map[string]*haResource{}, groups: map[string]map[string]string{}, services: map[string]*haService{}, commands: map[string]string{}}
}

const haFields = "state enum(started stopped enabled disabled ignored); max_restart int(0..); max_relocate int(0..); group configid; comment string(..4096); type enum(ct fe vm)"

// haEndpoints are HA resources. Source: pve-ha-manager src/PVE/API2/HA/.
func haEndpoints() []*endpoint {
	read, write := need("/", "Sys.Audit"), need("/", "Sys.Console")
	return []*endpoint{
		on("GET /cluster/ha", anyone, "", haIndex),
		on("GET /cluster/ha/resources", read, "type enum(ct fe vm)", (*call).listHA),
		on("POST /cluster/ha/resources", write, "sid* ha-resource-id; failback bool;"+haFields, (*call).createHA),
		on("GET /cluster/ha/resources/{sid}", read, "", (*call).readHA),
		on("PUT /cluster/ha/resources/{sid}", write, "delete string; digest string(..64); failback bool;"+haFields, (*call).updateHA),
		on("DELETE /cluster/ha/resources/{sid}", write, "purge bool default=1", (*call).deleteHA),
		on("POST /cluster/ha/resources/{sid}/migrate", write, "node* node", (*call).moveHA),
		on("POST /cluster/ha/resources/{sid}/relocate", write, "node* node", (*call).moveHA),
		on("GET /cluster/ha/status/current", read, "", (*call).haCurrent),
		on("GET /cluster/ha/status/manager_status", read, "", (*call).haManagerStatus),
		on("GET /cluster/ha/groups", read, "", (*call).listGroupsHA),
		on("POST /cluster/ha/groups", write, "group* configid; nodes* ha-node-list;"+haGroupFields, (*call).createGroupHA),
		on("GET /cluster/ha/groups/{group}", read, "", (*call).readGroupHA),
		on("PUT /cluster/ha/groups/{group}", write, "nodes ha-node-list; delete string; digest string;"+haGroupFields, (*call).updateGroupHA),
		on("DELETE /cluster/ha/groups/{group}", write, "", (*call).deleteGroupHA),
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

func haID(g *guest) string {
	if g.kind == "lxc" {
		return "ct:" + itoa(g.vmid)
	}
	return "vm:" + itoa(g.vmid)
}

// guestOfSID returns the guest of a resource, nil if it is gone.
func (s *Server) guestOfSID(sid string) *guest {
	_, id, _ := strings.Cut(sid, ":")
	g := s.guests[int(atoi64(id))]
	if g == nil || haID(g) != sid {
		return nil
	}
	return g
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

func (s *Server) haDigest() string {
	var b strings.Builder
	for _, sid := range sortedKeys(s.ha.resources) {
		r := s.ha.resources[sid]
		b.WriteString(sid + r.state + digestOf(r.fields))
	}
	return digestText(b.String())
}

func (s *Server) haRow(r *haResource) row {
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
	if err := c.groupsGone(); err != nil {
		return nil, err
	}
	if c.s.guestOfSID(sid) == nil {
		return nil, fail("resource '%s' does not exist in cluster", sid)
	}
	if err := c.s.needQuorum(); err != nil {
		return nil, err
	}
	if c.s.ha.resources[sid] != nil {
		return nil, fail("create resource failed: resource ID '%s' already defined", sid)
	}
	r := &haResource{sid: sid, state: "started", fields: map[string]string{}}
	c.setHA(r)
	c.s.ha.resources[sid] = r
	c.s.manageSoon()
	return nil, nil
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
	r := c.s.ha.resources[sid]
	if r == nil {
		return nil, fail("update resources config failed: no such resource '%s'", sid)
	}
	if d := c.text("digest"); d != "" && d != c.s.haDigest() {
		return nil, fail("update resources config failed: detected modified configuration - file changed by other user? Try again.")
	}
	if sv := c.s.ha.services[sid]; sv != nil && sv.state == "error" && c.has("state") && c.text("state") != "disabled" {
		return nil, fail("service '%s' in error state, must be disabled and fixed first", sid)
	}
	c.setHA(r)
	c.s.manageSoon()
	return nil, nil
}

func (c *call) deleteHA() (any, error) {
	sid, err := c.sid()
	if err != nil {
		return nil, err
	}
	if c.s.ha.resources[sid] == nil {
		return nil, fail("cannot delete service '%s', not HA managed!", sid)
	}
	delete(c.s.ha.resources, sid)
	if c.flag("purge", true) && c.s.version != access.V8 {
		c.s.ha.forget(sid)
	}
	c.s.manageSoon()
	return nil, nil
}

// forget takes a service out of the configuration, with the rules that are left without any.
func (h *haState) forget(sid string) {
	delete(h.resources, sid)
	for _, r := range h.rules {
		r.resources = slices.DeleteFunc(r.resources, func(s string) bool { return s == sid })
	}
	h.rules = slices.DeleteFunc(h.rules, func(r *haRule) bool { return len(r.resources) == 0 })
}

func (c *call) moveHA() (any, error) {
	sid, err := c.sid()
	if err != nil {
		return nil, err
	}
	if c.s.ha.resources[sid] == nil {
		return nil, fail("no such resource '%s'", sid)
	}
	if c.s.nodes[c.text("node")] == nil {
		return nil, fail("no such cluster node '%s'", c.text("node"))
	}
	c.s.ha.commands[sid] = c.text("node")
	c.s.manageSoon()
	if c.s.version == access.V8 {
		return nil, nil
	}
	return row{"sid": sid, "requested-node": c.text("node")}, nil
}

// haRequest returns the resource of a guest that the HA manager starts and stops, nil if others may.
func (s *Server) haRequest(vmid int) *haResource {
	g := s.guests[vmid]
	if g == nil {
		return nil
	}
	if r := s.ha.resources[haID(g)]; r != nil && r.state != "ignored" {
		return r
	}
	return nil
}

const haGroupFields = "restricted bool; nofailback bool; comment string(..4096); type enum(group)"

// noGroups is the answer of 9.x to all calls that concern groups.
func (c *call) noGroups(what string) error {
	if c.s.version == access.V8 {
		return nil
	}
	return fail("%s: ha groups have been migrated to rules", what)
}

func (s *Server) groupRow(id string) row {
	r := row{"group": id, "type": "group", "digest": digestOf(s.ha.groups[id])}
	for k, v := range s.ha.groups[id] {
		r[k] = v
		if k == "restricted" || k == "nofailback" {
			r[k] = integer(v)
		}
	}
	return r
}

func (c *call) listGroupsHA() (any, error) {
	if err := c.noGroups("cannot index groups"); err != nil {
		return nil, err
	}
	rows := []any{}
	for _, id := range sortedKeys(c.s.ha.groups) {
		rows = append(rows, c.s.groupRow(id))
	}
	return rows, nil
}

func (c *call) readGroupHA() (any, error) {
	if err := c.noGroups("cannot read group"); err != nil {
		return nil, err
	}
	id := c.text("group")
	if c.s.ha.groups[id] == nil {
		return nil, fail("no such ha group '%s'", id)
	}
	return c.s.groupRow(id), nil
}

func (c *call) setGroupHA(id string) {
	for _, k := range []string{"nodes", "restricted", "nofailback", "comment"} {
		if c.has(k) {
			c.s.ha.groups[id][k] = c.text(k)
		}
	}
}

func (c *call) createGroupHA() (any, error) {
	if err := c.noGroups("cannot create group"); err != nil {
		return nil, err
	}
	id := c.text("group")
	if c.s.ha.groups[id] != nil {
		return nil, fail("create ha group failed: ha group ID '%s' already defined", id)
	}
	c.s.ha.groups[id] = map[string]string{}
	c.setGroupHA(id)
	return nil, nil
}

func (c *call) updateGroupHA() (any, error) {
	if err := c.noGroups("cannot update group"); err != nil {
		return nil, err
	}
	id := c.text("group")
	if c.s.ha.groups[id] == nil {
		return nil, fail("update ha group failed: no such ha group '%s'", id)
	}
	for _, k := range schema.SplitList(c.text("delete")) {
		delete(c.s.ha.groups[id], k)
	}
	c.setGroupHA(id)
	return nil, nil
}

func (c *call) deleteGroupHA() (any, error) {
	if err := c.noGroups("cannot delete group"); err != nil {
		return nil, err
	}
	id := c.text("group")
	for _, r := range c.s.ha.resources {
		if r.fields["group"] == id {
			return nil, fail("delete group failed: ha group is used by service '%s'", r.sid)
		}
	}
	delete(c.s.ha.groups, id)
	return nil, nil
}
