package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/ha"
	"kubehenge.dev/proxmox/simulator/schema"
)

// groupEndpoints are the groups of 8.4, which 9.x has turned into rules. Source: pve-ha-manager src/PVE/API2/HA/Groups.pm.
func groupEndpoints() []*endpoint {
	read, write := need("/", "Sys.Audit"), need("/", "Sys.Console")
	return []*endpoint{
		on("GET /cluster/ha/groups", read, "", (*call).listGroupsHA),
		on("POST /cluster/ha/groups", write, "group* configid; nodes* ha-node-list;"+haGroupFields, (*call).createGroupHA),
		on("GET /cluster/ha/groups/{group}", read, "", (*call).readGroupHA),
		on("PUT /cluster/ha/groups/{group}", write, "nodes ha-node-list; delete configid-list(..4096); digest string(..64);"+strings.Replace(haGroupFields, "type enum(group)", "", 1), (*call).updateGroupHA),
		on("DELETE /cluster/ha/groups/{group}", write, "", (*call).deleteGroupHA),
	}
}

// groupRules are what the groups mean as rules.
func (s *state) groupRules() []*ha.Rule {
	var rules []*ha.Rule
	for _, id := range sortedKeys(s.ha.groups) {
		g := s.ha.groups[id]
		r := &ha.Rule{ID: "group-" + id, Kind: ha.NodeAffinity, Nodes: nodePriorities(schema.SplitList(g["nodes"])), Strict: g["restricted"] == "1"}
		for _, sid := range sortedKeys(s.ha.resources) {
			if s.ha.resources[sid].fields["group"] == id {
				r.Resources = append(r.Resources, sid)
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// goesBack tells whether a resource returns to a better node when one comes up.
func (s *state) goesBack(r *haResource) bool {
	if g := s.ha.groups[r.fields["group"]]; g != nil {
		return g["nofailback"] != "1"
	}
	return r.fields["failback"] != "0"
}

const haGroupFields = "restricted bool; nofailback bool; comment string(..4096); type enum(group)"

// noGroups is the answer of 9.x to all calls that concern groups.
func (c *call) noGroups(what string) error {
	if c.s.version == access.V8 {
		return nil
	}
	return fail("%s: ha groups have been migrated to rules", what)
}

func (s *state) groupsDigest() string {
	var b strings.Builder
	for _, id := range sortedKeys(s.ha.groups) {
		b.WriteString(id + digestOf(s.ha.groups[id]))
	}
	return digestText(b.String())
}

func (s *state) groupRow(id string) row {
	r := row{"group": id, "type": "group", "digest": s.groupsDigest()}
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
	if err := c.s.needQuorum(); err != nil {
		return nil, err
	}
	id := c.text("group")
	return nil, c.locked(haLock, "create ha group failed", func() error {
		if c.s.ha.groups[id] != nil {
			return fail("ha group ID '%s' already defined", id)
		}
		c.s.ha.groups[id] = map[string]string{}
		c.setGroupHA(id)
		return nil
	})
}

func (c *call) updateGroupHA() (any, error) {
	if err := c.noGroups("cannot update group"); err != nil {
		return nil, err
	}
	return nil, c.locked(haLock, "update ha group failed", c.changeGroupHA)
}

func (c *call) changeGroupHA() error {
	id := c.text("group")
	switch d := c.text("digest"); {
	case d != "" && d != c.s.groupsDigest():
		return fail("detected modified configuration - file changed by other user? Try again.")
	case c.s.ha.groups[id] == nil:
		return fail("no such ha group '%s'", id)
	}
	for _, k := range schema.SplitList(c.text("delete")) {
		switch k {
		case "restricted", "nofailback", "comment":
			delete(c.s.ha.groups[id], k)
		case "nodes":
			return fail("unable to delete required option '%s'", k)
		default:
			return fail("no such option '%s'", k)
		}
	}
	c.setGroupHA(id)
	c.s.manageSoon()
	return nil
}

func (c *call) deleteGroupHA() (any, error) {
	if err := c.noGroups("cannot delete group"); err != nil {
		return nil, err
	}
	id := c.text("group")
	return nil, c.locked(haLock, "delete ha group failed", func() error {
		for _, sid := range sortedKeys(c.s.ha.resources) {
			if c.s.ha.resources[sid].fields["group"] == id {
				return fail("ha group is used by service '%s'", sid)
			}
		}
		delete(c.s.ha.groups, id)
		return nil
	})
}
