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
func aclEndpoints() []*endpoint {
	modify := need("/access", "Sys.Modify")
	return []*endpoint{
		on("GET /access/roles", anyone, "", (*call).listRoles),
		on("POST /access/roles", modify, "roleid* roleid; privs priv-list", (*call).createRole),
		on("GET /access/roles/{roleid}", anyone, "", (*call).readRole),
		on("PUT /access/roles/{roleid}", modify, "privs priv-list; append bool requires=privs", (*call).updateRole),
		on("DELETE /access/roles/{roleid}", modify, "", (*call).deleteRole),
		on("GET /access/acl", anyone, "", (*call).listACL),
		on("PUT /access/acl", mayGrant, "path* string; roles* roleid-list; users userid-list; groups groupid-list; tokens tokenid-list; propagate bool default=1; delete bool", (*call).updateACL),
	}
}

func (s *state) builtin(role string) bool {
	return slices.ContainsFunc(access.Builtin(s.version), func(r access.Role) bool { return r.Name == role })
}

func (c *call) listRoles() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.acl.Roles) {
		rows = append(rows, row{"roleid": id, "privs": strings.Join(sortedKeys(c.s.acl.Roles[id]), ","), "special": bit(c.s.builtin(id))})
	}
	return rows, nil
}

func (c *call) readRole() (any, error) {
	privileges, ok := c.s.acl.Roles[c.text("roleid")]
	if !ok {
		return nil, fail("role '%s' does not exist", c.text("roleid"))
	}
	data := row{}
	for p := range privileges {
		data[p] = 1
	}
	return data, nil
}

// privileges reads the parameter privs.
func (c *call) privileges() ([]string, error) {
	known := access.Privileges(c.s.version)
	for _, p := range c.list("privs") {
		if !slices.Contains(known, p) {
			return nil, invalid("privs", "invalid format - invalid privilege '%s'\n", p)
		}
	}
	return c.list("privs"), nil
}

func (c *call) createRole() (any, error) {
	id := c.text("roleid")
	privileges, err := c.privileges()
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(strings.ToLower(id), "pve") {
		return nil, invalid("roleid", "cannot use role ID starting with the (case-insensitive) 'PVE' namespace")
	}
	return nil, c.locked(userLock, "create role failed", func() error {
		if _, there := c.s.acl.Roles[id]; there {
			return fail("role '%s' already exists", id)
		}
		c.s.acl.Roles[id] = set(privileges)
		c.s.acl.Changed()
		return nil
	})
}

func (c *call) updateRole() (any, error) {
	id := c.text("roleid")
	privileges, err := c.privileges()
	if err != nil {
		return nil, err
	}
	if c.s.builtin(id) {
		return nil, fail("auto-generated role '%s' cannot be modified", id)
	}
	return nil, c.locked(userLock, "update role failed", func() error {
		old, there := c.s.acl.Roles[id]
		if !there {
			return fail("role '%s' does not exist", id)
		}
		c.s.acl.Roles[id] = set(privileges)
		if c.flag("append", false) {
			maps.Copy(c.s.acl.Roles[id], old)
		}
		c.s.acl.Changed()
		return nil
	})
}

func (c *call) deleteRole() (any, error) {
	id := c.text("roleid")
	if c.s.builtin(id) {
		return nil, fail("auto-generated role '%s' cannot be deleted", id)
	}
	return nil, c.locked(userLock, "delete role failed", func() error {
		if _, there := c.s.acl.Roles[id]; !there {
			return fail("role '%s' does not exist", id)
		}
		c.s.acl.ForgetRole(id)
		delete(c.s.acl.Roles, id)
		c.s.acl.Changed()
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
	if !c.has("path") {
		return nil // the verification says so
	}
	path, ok := permission.NormalizePath(c.text("path"))
	if !ok {
		path = c.text("path")
	}
	return c.check(path, grantPrivilege(path))
}

func (c *call) listACL() (any, error) {
	audit := c.may("/access", "Sys.Audit")
	rows := []any{}
	for _, r := range c.s.acl.Rows() {
		if audit || c.may(r.Path, grantPrivilege(r.Path)) {
			rows = append(rows, row{"path": r.Path, "type": r.Kind, "ugid": r.ID, "roleid": r.Role, "propagate": bit(r.Propagate)})
		}
	}
	return rows, nil
}

func (c *call) updateACL() (any, error) {
	if !c.has("users") && !c.has("groups") && !c.has("tokens") {
		const text = "either 'users', 'groups' or 'tokens' is required."
		return nil, invalidAll(schema.Errors{"users": text, "groups": text, "tokens": text})
	}
	path, ok := permission.NormalizePath(c.text("path"))
	if !ok || !c.flag("delete", false) && !permission.ValidPath(path) {
		return nil, invalid("path", "invalid ACL path '%s'", c.text("path"))
	}
	return nil, c.locked(userLock, "ACL update failed", func() error { return c.changeACL(path) })
}

// aclSubject is a kind of subject, the parameter that names some, and the test whether one exists.
var aclSubjects = []struct {
	kind, param string
	exists      func(s *state, id string) error
}{
	{permission.KindGroup, "groups", func(s *state, id string) error {
		if s.acl.Groups[id] == nil {
			return fail("group '%s' does not exist", id)
		}
		return nil
	}},
	{permission.KindUser, "users", func(s *state, id string) error {
		if s.acl.Users[id] == nil {
			return fail("user '%s' does not exist", id)
		}
		return nil
	}},
	{permission.KindToken, "tokens", func(s *state, id string) error {
		_, err := s.tokenOf(permission.SplitToken(id))
		return err
	}},
}

func (c *call) changeACL(path string) error {
	remove, propagate := c.flag("delete", false), c.flag("propagate", true)
	for _, role := range c.list("roles") {
		if _, there := c.s.acl.Roles[role]; !there {
			return fail("role '%s' does not exist", role)
		}
		if err := c.mayHandOut(path, role, propagate, remove); err != nil {
			return err
		}
		for _, subject := range aclSubjects {
			for _, id := range c.list(subject.param) {
				if err := subject.exists(c.s, id); err != nil {
					return err
				}
				if remove {
					c.s.acl.Revoke(path, subject.kind, id, role)
				} else {
					c.s.acl.Grant(path, subject.kind, id, role, propagate)
				}
			}
		}
	}
	return nil
}

// mayHandOut keeps callers without Permissions.Modify from giving, or taking, more than they have themselves.
func (c *call) mayHandOut(path, role string, propagate, remove bool) error {
	own := c.s.acl.Privileges(c.subject(), path)
	if _, all := own["Permissions.Modify"]; all {
		return nil
	}
	verb := "add"
	if remove {
		verb = "remove"
	}
	for _, p := range sortedKeys(c.s.acl.Roles[role]) {
		flag, has := own[p]
		switch {
		case !has:
			return invalid("role", "Cannot %s role '%s' - requires 'Permissions.Modify' or superset of privileges.", verb, role)
		case propagate && !flag && !remove:
			return invalid("role", "Cannot %s role '%s' with propagation - requires 'Permissions.Modify' or propagated superset of privileges.", verb, role)
		}
	}
	if role == permission.NoAccess {
		return invalid("role", "Cannot %s role '%s' - requires 'Permissions.Modify'", verb, role)
	}
	return nil
}
