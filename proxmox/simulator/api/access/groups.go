package access

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

func listGroups(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.ACL.Groups) {
		if !c.May("/access/groups/"+id, "User.Modify|Sys.Audit|Group.Allocate") {
			continue
		}
		g := c.State.ACL.Groups[id]
		data := core.Row{"groupid": id, "users": strings.Join(core.SortedKeys(g.Users), ",")}
		if g.Comment != "" {
			data["comment"] = g.Comment
		}
		rows = append(rows, data)
	}
	return rows, nil
}

func readGroup(c *core.Call) (any, error) {
	g := c.State.ACL.Groups[c.Text("groupid")]
	if g == nil {
		return nil, core.Fail("group '%s' does not exist", c.Text("groupid"))
	}
	data := core.Row{"members": core.SortedKeys(g.Users)}
	if g.Comment != "" {
		data["comment"] = g.Comment
	}
	return data, nil
}

func createGroup(c *core.Call) (any, error) {
	id := c.Text("groupid")
	return nil, c.Locked(core.UserLock, "create group failed", func() error {
		if c.State.ACL.Groups[id] != nil {
			return core.Fail("group '%s' already exists", id)
		}
		c.State.ACL.Groups[id] = &permission.Group{Comment: c.Text("comment"), Users: map[string]bool{}}
		return nil
	})
}

func updateGroup(c *core.Call) (any, error) {
	return nil, c.Locked(core.UserLock, "update group failed", func() error {
		g := c.State.ACL.Groups[c.Text("groupid")]
		if g == nil {
			return core.Fail("group '%s' does not exist", c.Text("groupid"))
		}
		if c.Has("comment") {
			g.Comment = c.Text("comment")
		}
		return nil
	})
}

func deleteGroup(c *core.Call) (any, error) {
	id := c.Text("groupid")
	return nil, c.Locked(core.UserLock, "delete group failed", func() error {
		if c.State.ACL.Groups[id] == nil {
			return core.Fail("group '%s' does not exist", id)
		}
		delete(c.State.ACL.Groups, id)
		c.State.ACL.Forget(permission.KindGroup, id)
		c.State.ACL.Changed()
		return nil
	})
}
