package simulator

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/schema"
)

// aclEndpoints are roles and ACL entries.
func aclEndpoints() []*Endpoint {
	modify := Need("/access", "Sys.Modify")
	return []*Endpoint{
		On("GET /access/roles", Anyone, "", listRoles),
		On("POST /access/roles", modify, "roleid* roleid; privs priv-list", createRole),
		On("GET /access/roles/{roleid}", Anyone, "", readRole),
		On("PUT /access/roles/{roleid}", modify, "privs priv-list; append bool requires=privs", updateRole),
		On("DELETE /access/roles/{roleid}", modify, "", deleteRole),
		On("GET /access/acl", Anyone, "", listACL),
		On("PUT /access/acl", mayGrant, "path* string; roles* roleid-list; users userid-list; groups groupid-list; tokens tokenid-list; propagate bool default=1; delete bool", updateACL),
	}
}

// BuiltinRole tells whether a role is one of Proxmox VE's own.
func BuiltinRole(s *State, role string) bool {
	return slices.ContainsFunc(access.Builtin(s.Version), func(r access.Role) bool { return r.Name == role })
}

func listRoles(c *call) (any, error) {
	rows := []any{}
	for _, id := range SortedKeys(c.State.ACL.Roles) {
		rows = append(rows, Row{"roleid": id, "privs": strings.Join(SortedKeys(c.State.ACL.Roles[id]), ","), "special": Bit(BuiltinRole(c.State, id))})
	}
	return rows, nil
}

func readRole(c *call) (any, error) {
	privileges, ok := c.State.ACL.Roles[c.Text("roleid")]
	if !ok {
		return nil, Fail("role '%s' does not exist", c.Text("roleid"))
	}
	data := Row{}
	for p := range privileges {
		data[p] = 1
	}
	return data, nil
}

// privileges reads the parameter privs.
func privileges(c *call) ([]string, error) {
	known := access.Privileges(c.State.Version)
	for _, p := range c.List("privs") {
		if !slices.Contains(known, p) {
			return nil, Invalid("privs", "invalid format - invalid privilege '%s'\n", p)
		}
	}
	return c.List("privs"), nil
}

func createRole(c *call) (any, error) {
	id := c.Text("roleid")
	privileges, err := privileges(c)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.ToLower(id), "pve") {
		return nil, Invalid("roleid", "cannot use role ID starting with the (case-insensitive) 'PVE' namespace")
	}
	return nil, c.Locked(UserLock, "create role failed", func() error {
		if _, there := c.State.ACL.Roles[id]; there {
			return Fail("role '%s' already exists", id)
		}
		c.State.ACL.Roles[id] = SetOf(privileges)
		c.State.ACL.Changed()
		return nil
	})
}

func updateRole(c *call) (any, error) {
	id := c.Text("roleid")
	privileges, err := privileges(c)
	if err != nil {
		return nil, err
	}
	if BuiltinRole(c.State, id) {
		return nil, Fail("auto-generated role '%s' cannot be modified", id)
	}
	return nil, c.Locked(UserLock, "update role failed", func() error {
		old, there := c.State.ACL.Roles[id]
		if !there {
			return Fail("role '%s' does not exist", id)
		}
		c.State.ACL.Roles[id] = SetOf(privileges)
		if c.Flag("append", false) {
			maps.Copy(c.State.ACL.Roles[id], old)
		}
		c.State.ACL.Changed()
		return nil
	})
}

func deleteRole(c *call) (any, error) {
	id := c.Text("roleid")
	if BuiltinRole(c.State, id) {
		return nil, Fail("auto-generated role '%s' cannot be deleted", id)
	}
	return nil, c.Locked(UserLock, "delete role failed", func() error {
		if _, there := c.State.ACL.Roles[id]; !there {
			return Fail("role '%s' does not exist", id)
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

func mayGrant(c *call) error {
	if !c.Has("path") {
		return nil // the verification says so
	}
	path, ok := permission.NormalizePath(c.Text("path"))
	if !ok {
		path = c.Text("path")
	}
	return c.Check(path, grantPrivilege(path))
}

func listACL(c *call) (any, error) {
	audit := c.May("/access", "Sys.Audit")
	rows := []any{}
	for _, r := range c.State.ACL.Rows() {
		if audit || c.May(r.Path, grantPrivilege(r.Path)) {
			rows = append(rows, Row{"path": r.Path, "type": r.Kind, "ugid": r.ID, "roleid": r.Role, "propagate": Bit(r.Propagate)})
		}
	}
	return rows, nil
}

func updateACL(c *call) (any, error) {
	if !c.Has("users") && !c.Has("groups") && !c.Has("tokens") {
		const text = "either 'users', 'groups' or 'tokens' is required."
		return nil, InvalidAll(schema.Errors{"users": text, "groups": text, "tokens": text})
	}
	path, ok := permission.NormalizePath(c.Text("path"))
	if !ok || !c.Flag("delete", false) && !permission.ValidPath(path) {
		return nil, Invalid("path", "invalid ACL path '%s'", c.Text("path"))
	}
	return nil, c.Locked(UserLock, "ACL update failed", func() error { return changeACL(c, path) })
}

// aclSubject is a kind of subject, the parameter that names some, and the test whether one exists.
var aclSubjects = []struct {
	kind, param string
	exists      func(s *State, id string) error
}{
	{permission.KindGroup, "groups", func(s *State, id string) error {
		if s.ACL.Groups[id] == nil {
			return Fail("group '%s' does not exist", id)
		}
		return nil
	}},
	{permission.KindUser, "users", func(s *State, id string) error {
		if s.ACL.Users[id] == nil {
			return Fail("user '%s' does not exist", id)
		}
		return nil
	}},
	{permission.KindToken, "tokens", func(s *State, id string) error {
		user, name := permission.SplitToken(id)
		_, err := TokenOf(s, user, name)
		return err
	}},
}

func changeACL(c *call, path string) error {
	remove, propagate := c.Flag("delete", false), c.Flag("propagate", true)
	for _, role := range c.List("roles") {
		if _, there := c.State.ACL.Roles[role]; !there {
			return Fail("role '%s' does not exist", role)
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
func mayHandOut(c *call, path, role string, propagate, remove bool) error {
	own := c.State.ACL.Privileges(c.Subject(), path)
	if _, all := own["Permissions.Modify"]; all {
		return nil
	}
	verb := "add"
	if remove {
		verb = "remove"
	}
	for _, p := range SortedKeys(c.State.ACL.Roles[role]) {
		flag, has := own[p]
		switch {
		case !has:
			return Invalid("role", "Cannot %s role '%s' - requires 'Permissions.Modify' or superset of privileges.", verb, role)
		case propagate && !flag && !remove:
			return Invalid("role", "Cannot %s role '%s' with propagation - requires 'Permissions.Modify' or propagated superset of privileges.", verb, role)
		}
	}
	if role == permission.NoAccess {
		return Invalid("role", "Cannot %s role '%s' - requires 'Permissions.Modify'", verb, role)
	}
	return nil
}
