package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

func (c *call) listGroups() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.acl.Groups) {
		if !c.may("/access/groups/"+id, "User.Modify|Sys.Audit|Group.Allocate") {
			continue
		}
		g := c.s.acl.Groups[id]
		data := row{"groupid": id, "users": strings.Join(sortedKeys(g.Users), ",")}
		if g.Comment != "" {
			data["comment"] = g.Comment
		}
		rows = append(rows, data)
	}
	return rows, nil
}

func (c *call) readGroup() (any, error) {
	g := c.s.acl.Groups[c.text("groupid")]
	if g == nil {
		return nil, fail("group '%s' does not exist", c.text("groupid"))
	}
	data := row{"members": sortedKeys(g.Users)}
	if g.Comment != "" {
		data["comment"] = g.Comment
	}
	return data, nil
}

func (c *call) createGroup() (any, error) {
	id := c.text("groupid")
	return nil, c.locked(userLock, "create group failed", func() error {
		if c.s.acl.Groups[id] != nil {
			return fail("group '%s' already exists", id)
		}
		c.s.acl.Groups[id] = &permission.Group{Comment: c.text("comment"), Users: map[string]bool{}}
		return nil
	})
}

func (c *call) updateGroup() (any, error) {
	return nil, c.locked(userLock, "update group failed", func() error {
		g := c.s.acl.Groups[c.text("groupid")]
		if g == nil {
			return fail("group '%s' does not exist", c.text("groupid"))
		}
		if c.has("comment") {
			g.Comment = c.text("comment")
		}
		return nil
	})
}

func (c *call) deleteGroup() (any, error) {
	id := c.text("groupid")
	return nil, c.locked(userLock, "delete group failed", func() error {
		if c.s.acl.Groups[id] == nil {
			return fail("group '%s' does not exist", id)
		}
		delete(c.s.acl.Groups, id)
		c.s.acl.Forget(permission.KindGroup, id)
		c.s.acl.Changed()
		return nil
	})
}
