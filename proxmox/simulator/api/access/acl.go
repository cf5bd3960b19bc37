package access

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/schema"
)

// aclEndpoints are roles and ACL entries.
func aclEndpoints() []*core.Endpoint {
	modify := core.Need("/access", "Sys.Modify")
	return []*core.Endpoint{
		core.On("GET /access/roles", core.Anyone, "", listRoles),
		core.On("POST /access/roles", modify, "roleid* roleid; privs priv-list", createRole),
		core.On("GET /access/roles/{roleid}", core.Anyone, "", readRole),
		core.On("PUT /access/roles/{roleid}", modify, "privs priv-list; append bool requires=privs", updateRole),
		core.On("DELETE /access/roles/{roleid}", modify, "", deleteRole),
		core.On("GET /access/acl", core.Anyone, "", listACL),
		core.On("PUT /access/acl", mayGrant, "path* string; roles* roleid-list; users userid-list; groups groupid-list; tokens tokenid-list; propagate bool default=1; delete bool", updateACL),
	}
}

// BuiltinRole tells whether a role is one of Proxmox VE's own.
func BuiltinRole(s *core.State, role string) bool {
	return slices.ContainsFunc(access.Builtin(s.Version), func(r access.Role) bool { return r.Name == role })
}

func listRoles(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.ACL.Roles) {
		rows = append(rows, core.Row{"roleid": id, "privs": strings.Join(core.SortedKeys(c.State.ACL.Roles[id]), ","), "special": core.Bit(BuiltinRole(c.State, id))})
	}
	return rows, nil
}

func readRole(c *core.Call) (any, error) {
	privileges, ok := c.State.ACL.Roles[c.Text("roleid")]
	if !ok {
		return nil, core.Fail("role '%s' does not exist", c.Text("roleid"))
	}
	data := core.Row{}
	for p := range privileges {
		data[p] = 1
	}
	return data, nil
}

// privileges reads the parameter privs.
func privileges(c *core.Call) ([]string, error) {
	known := access.Privileges(c.State.Version)
	for _, p := range c.List("privs") {
		if !slices.Contains(known, p) {
			return nil, core.Invalid("privs", "invalid format - invalid privilege '%s'\n", p)
		}
	}
	return c.List("privs"), nil
}

func createRole(c *core.Call) (any, error) {
	id := c.Text("roleid")
	privileges, err := privileges(c)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.ToLower(id), "pve") {
		return nil, core.Invalid("roleid", "cannot use role ID starting with the (case-insensitive) 'PVE' namespace")
	}
	return nil, c.Locked(core.UserLock, "create role failed", func() error {
		if _, there := c.State.ACL.Roles[id]; there {
			return core.Fail("role '%s' already exists", id)
		}
		c.State.ACL.Roles[id] = core.SetOf(privileges)
		c.State.ACL.Changed()
		return nil
	})
}

func updateRole(c *core.Call) (any, error) {
	id := c.Text("roleid")
	privileges, err := privileges(c)
	if err != nil {
		return nil, err
	}
	if BuiltinRole(c.State, id) {
		return nil, core.Fail("auto-generated role '%s' cannot be modified", id)
	}
	return nil, c.Locked(core.UserLock, "update role failed", func() error {
		old, there := c.State.ACL.Roles[id]
		if !there {
			return core.Fail("role '%s' does not exist", id)
		}
		c.State.ACL.Roles[id] = core.SetOf(privileges)
		if c.Flag("append", false) {
			maps.Copy(c.State.ACL.Roles[id], old)
		}
		c.State.ACL.Changed()
		return nil
	})
}

func deleteRole(c *core.Call) (any, error) {
	id := c.Text("roleid")
	if BuiltinRole(c.State, id) {
		return nil, core.Fail("auto-generated role '%s' cannot be deleted", id)
	}
	return nil, c.Locked(core.UserLock, "delete role failed", func() error {
		if _, there := c.State.ACL.Roles[id]; !there {
			return core.Fail("role '%s' does not exist", id)
		}
		c.State.ACL.ForgetRole(id)
		delete(c.State.ACL.Roles, id)
		c.State.ACL.Changed()
		return nil
	})
}

// grantPrivilege is what allows to change entries on a path.
func grantPrivilege(path string) string {
	for prefix, also := range map[string]string{"/storage/": "Datastore.Allocate", "/vms/": "VM.Allocate", "/pool/": "Pool.Allocate"} {
		if strings.HasPrefix(path, prefix) {
			return "Permissions.Modify|" + also
		}
	}
	return "Permissions.Modify"
}

func mayGrant(c *core.Call) error {
	if !c.Has("path") {
		return nil // the verification says so
	}
	path, ok := permission.NormalizePath(c.Text("path"))
	if !ok {
		path = c.Text("path")
	}
	return c.Check(path, grantPrivilege(path))
}

func listACL(c *core.Call) (any, error) {
	audit := c.May("/access", "Sys.Audit")
	rows := []any{}
	for _, r := range c.State.ACL.Rows() {
		if audit || c.May(r.Path, grantPrivilege(r.Path)) {
			rows = append(rows, core.Row{"path": r.Path, "type": r.Kind, "ugid": r.ID, "roleid": r.Role, "propagate": core.Bit(r.Propagate)})
		}
	}
	return rows, nil
}

func updateACL(c *core.Call) (any, error) {
	if !c.Has("users") && !c.Has("groups") && !c.Has("tokens") {
		const text = "either 'users', 'groups' or 'tokens' is required."
		return nil, core.InvalidAll(schema.Errors{"users": text, "groups": text, "tokens": text})
	}
	path, ok := permission.NormalizePath(c.Text("path"))
	if !ok || !c.Flag("delete", false) && !permission.ValidPath(path) {
		return nil, core.Invalid("path", "invalid ACL path '%s'", c.Text("path"))
	}
	return nil, c.Locked(core.UserLock, "ACL update failed", func() error { return changeACL(c, path) })
}

// aclSubject is a kind of subject, the parameter that names some, and the test whether one exists.
var aclSubjects = []struct {
	kind, param string
	exists      func(s *core.State, id string) error
}{
	{permission.KindGroup, "groups", func(s *core.State, id string) error {
		if s.ACL.Groups[id] == nil {
			return core.Fail("group '%s' does not exist", id)
		}
		return nil
	}},
	{permission.KindUser, "users", func(s *core.State, id string) error {
		if s.ACL.Users[id] == nil {
			return core.Fail("user '%s' does not exist", id)
		}
		return nil
	}},
	{permission.KindToken, "tokens", func(s *core.State, id string) error {
		user, name := permission.SplitToken(id)
		_, err := TokenOf(s, user, name)
		return err
	}},
}

func changeACL(c *core.Call, path string) error {
	remove, propagate := c.Flag("delete", false), c.Flag("propagate", true)
	for _, role := range c.List("roles") {
		if _, there := c.State.ACL.Roles[role]; !there {
			return core.Fail("role '%s' does not exist", role)
		}
		if err := mayHandOut(c, path, role, propagate, remove); err != nil {
			return err
		}
		for _, subject := range aclSubjects {
			for _, id := range c.List(subject.param) {
				if err := subject.exists(c.State, id); err != nil {
					return err
				}
				if remove {
					c.State.ACL.Revoke(path, subject.kind, id, role)
				} else {
					c.State.ACL.Grant(path, subject.kind, id, role, propagate)
				}
			}
		}
	}
	return nil
}

// mayHandOut keeps callers without Permissions.Modify from giving, or taking, more than they have themselves.
func mayHandOut(c *core.Call, path, role string, propagate, remove bool) error {
	own := c.State.ACL.Privileges(c.Subject(), path)
	if _, all := own["Permissions.Modify"]; all {
		return nil
	}
	verb := "add"
	if remove {
		verb = "remove"
	}
	for _, p := range core.SortedKeys(c.State.ACL.Roles[role]) {
		flag, has := own[p]
		switch {
		case !has:
			return core.Invalid("role", "Cannot %s role '%s' - requires 'Permissions.Modify' or superset of privileges.", verb, role)
		case propagate && !flag && !remove:
			return core.Invalid("role", "Cannot %s role '%s' with propagation - requires 'Permissions.Modify' or propagated superset of privileges.", verb, role)
		}
	}
	if role == permission.NoAccess {
		return core.Invalid("role", "Cannot %s role '%s' - requires 'Permissions.Modify'", verb, role)
	}
	return nil
}
