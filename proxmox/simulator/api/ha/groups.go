package ha

import (
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/ha"
	"kubehenge.dev/proxmox/simulator/schema"
)

// groupEndpoints are the groups of 8.4, which 9.x has turned into rules. Source: pve-ha-manager src/PVE/API2/HA/Groups.pm.
func groupEndpoints() []*core.Endpoint {
	read, write := core.Need("/", "Sys.Audit"), core.Need("/", "Sys.Console")
	return []*core.Endpoint{
		core.On("GET /cluster/ha/groups", read, "", listGroupsHA),
		core.On("POST /cluster/ha/groups", write, "group* configid; nodes* ha-node-list;"+haGroupFields, createGroupHA),
		core.On("GET /cluster/ha/groups/{group}", read, "", readGroupHA),
		core.On("PUT /cluster/ha/groups/{group}", write, "nodes ha-node-list; delete configid-list(..4096); digest string(..64);"+strings.Replace(haGroupFields, "type enum(group)", "", 1), updateGroupHA),
		core.On("DELETE /cluster/ha/groups/{group}", write, "", deleteGroupHA),
	}
}

// groupRules are what the groups mean as rules.
func groupRules(s *core.State) []*ha.Rule {
	var rules []*ha.Rule
	for _, id := range core.SortedKeys(s.HA.Groups) {
		g := s.HA.Groups[id]
		r := &ha.Rule{ID: "group-" + id, Kind: ha.NodeAffinity, Nodes: core.NodePriorities(schema.SplitList(g["nodes"])), Strict: g["restricted"] == "1"}
		for _, sid := range core.SortedKeys(s.HA.Resources) {
			if s.HA.Resources[sid].Fields["group"] == id {
				r.Resources = append(r.Resources, sid)
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// goesBack tells whether a resource returns to a better node when one comes up.
func goesBack(s *core.State, r *core.HAResource) bool {
	if g := s.HA.Groups[r.Fields["group"]]; g != nil {
		return g["nofailback"] != "1"
	}
	return r.Fields["failback"] != "0"
}

const haGroupFields = "restricted bool; nofailback bool; comment string(..4096); type enum(group)"

// noGroups is the answer of 9.x to all calls that concern groups.
func noGroups(c *core.Call, what string) error {
	if c.State.Version == access.V8 {
		return nil
	}
	return core.Fail("%s: ha groups have been migrated to rules", what)
}

func groupsDigest(s *core.State) string {
	var b strings.Builder
	for _, id := range core.SortedKeys(s.HA.Groups) {
		b.WriteString(id + core.DigestOf(s.HA.Groups[id]))
	}
	return core.DigestText(b.String())
}

func groupRow(s *core.State, id string) core.Row {
	r := core.Row{"group": id, "type": "group", "digest": groupsDigest(s)}
	for k, v := range s.HA.Groups[id] {
		r[k] = v
		if k == "restricted" || k == "nofailback" {
			r[k] = core.Integer(v)
		}
	}
	return r
}

func listGroupsHA(c *core.Call) (any, error) {
	if err := noGroups(c, "cannot index groups"); err != nil {
		return nil, err
	}
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.HA.Groups) {
		rows = append(rows, groupRow(c.State, id))
	}
	return rows, nil
}

func readGroupHA(c *core.Call) (any, error) {
	if err := noGroups(c, "cannot read group"); err != nil {
		return nil, err
	}
	id := c.Text("group")
	if c.State.HA.Groups[id] == nil {
		return nil, core.Fail("no such ha group '%s'", id)
	}
	return groupRow(c.State, id), nil
}

func setGroupHA(c *core.Call, id string) {
	for _, k := range []string{"nodes", "restricted", "nofailback", "comment"} {
		if c.Has(k) {
			c.State.HA.Groups[id][k] = c.Text(k)
		}
	}
}

func createGroupHA(c *core.Call) (any, error) {
	if err := noGroups(c, "cannot create group"); err != nil {
		return nil, err
	}
	if err := c.State.NeedQuorum(); err != nil {
		return nil, err
	}
	id := c.Text("group")
	return nil, c.Locked(core.HALock, "create ha group failed", func() error {
		if c.State.HA.Groups[id] != nil {
			return core.Fail("ha group ID '%s' already defined", id)
		}
		c.State.HA.Groups[id] = map[string]string{}
		setGroupHA(c, id)
		return nil
	})
}

func updateGroupHA(c *core.Call) (any, error) {
	if err := noGroups(c, "cannot update group"); err != nil {
		return nil, err
	}
	return nil, c.Locked(core.HALock, "update ha group failed", func() error { return changeGroupHA(c) })
}

func changeGroupHA(c *core.Call) error {
	id := c.Text("group")
	switch d := c.Text("digest"); {
	case d != "" && d != groupsDigest(c.State):
		return core.Fail("detected modified configuration - file changed by other user? Try again.")
	case c.State.HA.Groups[id] == nil:
		return core.Fail("no such ha group '%s'", id)
	}
	for _, k := range schema.SplitList(c.Text("delete")) {
		switch k {
		case "restricted", "nofailback", "comment":
			delete(c.State.HA.Groups[id], k)
		case "nodes":
			return core.Fail("unable to delete required option '%s'", k)
		default:
			return core.Fail("no such option '%s'", k)
		}
	}
	setGroupHA(c, id)
	c.State.ManageSoon()
	return nil
}

func deleteGroupHA(c *core.Call) (any, error) {
	if err := noGroups(c, "cannot delete group"); err != nil {
		return nil, err
	}
	id := c.Text("group")
	return nil, c.Locked(core.HALock, "delete ha group failed", func() error {
		for _, sid := range core.SortedKeys(c.State.HA.Resources) {
			if c.State.HA.Resources[sid].Fields["group"] == id {
				return core.Fail("ha group is used by service '%s'", sid)
			}
		}
		delete(c.State.HA.Groups, id)
		return nil
	})
}
