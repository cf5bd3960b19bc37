package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

func listGroups(c *call) (any, error) {
	rows := []any{}
	for _, id := range SortedKeys(c.State.ACL.Groups) {
		if !c.May("/access/groups/"+id, "User.Modify|Sys.Audit|Group.Allocate") {
			continue
		}
		g := c.State.ACL.Groups[id]
		data := Row{"groupid": id, "users": strings.Join(SortedKeys(g.Users), ",")}
		if g.Comment != "" {
			data["comment"] = g.Comment
		}
		rows = append(rows, data)
	}
	return rows, nil
}

func readGroup(c *call) (any, error) {
	g := c.State.ACL.Groups[c.Text("groupid")]
	if g == nil {
		return nil, Fail("group '%s' does not exist", c.Text("groupid"))
	}
	data := Row{"members": SortedKeys(g.Users)}
	if g.Comment != "" {
		data["comment"] = g.Comment
	}
	return data, nil
}

func createGroup(c *call) (any, error) {
	id := c.Text("groupid")
	return nil, c.Locked(UserLock, "create group failed", func() error {
		if c.State.ACL.Groups[id] != nil {
			return Fail("group '%s' already exists", id)
		}
		c.State.ACL.Groups[id] = &permission.Group{Comment: c.Text("comment"), Users: map[string]bool{}}
		return nil
	})
}

func updateGroup(c *call) (any, error) {
	return nil, c.Locked(UserLock, "update group failed", func() error {
		g := c.State.ACL.Groups[c.Text("groupid")]
		if g == nil {
			return Fail("group '%s' does not exist", c.Text("groupid"))
		}
		if c.Has("comment") {
			g.Comment = c.Text("comment")
		}
		return nil
	})
}

func deleteGroup(c *call) (any, error) {
	id := c.Text("groupid")
	return nil, c.Locked(UserLock, "delete group failed", func() error {
		if c.State.ACL.Groups[id] == nil {
			return Fail("group '%s' does not exist", id)
		}
		delete(c.State.ACL.Groups, id)
		c.State.ACL.Forget(permission.KindGroup, id)
		c.State.ACL.Changed()
		return nil
	})
}
