package simulator

import (
	"fmt"
	"strings"
	"testing"

	"kubehenge.dev/proxmox/simulator/core"
)

// delegates is a lab in which boss@pve may make users in the group tenants, hand out what it has on its pool, and nothing
// else: the rights that a product gives to the part of it which makes tenants' accounts.
func delegates(t *testing.T) (*Server, *caller) {
	t.Helper()
	s, _ := withUsers(t, nil, UserSpec{ID: "boss@pve", Password: "password-boss", Tokens: []TokenSpec{{ID: "ci", Secret: "11111111-2222-3333-4444-555555555555", Full: true}}},
		UserSpec{ID: "outsider@pve", Password: "password-outsider"})
	r := root(t, s)
	for _, g := range []string{"tenants", "staff"} {
		r.must("POST", "/access/groups", map[string]any{"groupid": g})
	}
	r.must("POST", "/access/users", map[string]any{"userid": "tenant@pve", "password": "password-tenant", "groups": "tenants"})
	r.must("POST", "/access/roles", map[string]any{"roleid": "Tenant", "privs": "VM.Audit,VM.PowerMgmt"})
	r.must("POST", "/access/roles", map[string]any{"roleid": "Once", "privs": "VM.Audit,VM.Allocate"})
	r.must("POST", "/access/roles", map[string]any{"roleid": "Boss", "privs": "Pool.Allocate,Pool.Audit,VM.Audit,VM.PowerMgmt,VM.Allocate"})
	r.must("POST", "/pools", map[string]any{"poolid": "lent"})
	for path, role := range map[string]string{"/pool/lent": "Boss", "/access/groups/tenants": "PVEUserAdmin", "/access/realm/pve": "PVEUserAdmin"} {
		r.must("PUT", "/access/acl", map[string]any{"path": path, "roles": role, "users": "boss@pve"})
	}
	r.must("PUT", "/access/acl", map[string]any{"path": "/pool/lent/once", "roles": "Boss", "users": "boss@pve", "propagate": 0})
	return s, r
}

func TestDelegation(t *testing.T) {
	const invalid = "Parameter verification failed."
	for name, c := range map[string]struct {
		who          string // empty: boss@pve
		method, path string
		params       map[string]any
		want         string // message, or OK
	}{
		"a user in a group that one may fill":    {"", "POST", "/access/users", map[string]any{"userid": "new@pve", "groups": "tenants"}, "OK"},
		"a user in no group":                     {"", "POST", "/access/users", map[string]any{"userid": "new@pve"}, "Permission check failed (/access/groups, User.Modify)"},
		"a user in a group of others":            {"", "POST", "/access/users", map[string]any{"userid": "new@pve", "groups": "staff"}, "Permission check failed (/access/groups/staff, User.Modify)"},
		"a user in one's own group and others'":  {"", "POST", "/access/users", map[string]any{"userid": "new@pve", "groups": "tenants,staff"}, "Permission check failed (/access/groups/staff, User.Modify)"},
		"a user of another realm":                {"", "POST", "/access/users", map[string]any{"userid": "new@pam", "groups": "tenants"}, "Permission check failed (/access/realm/pam, Realm.AllocateUser)"},
		"a user who is there already":            {"", "POST", "/access/users", map[string]any{"userid": "tenant@pve", "groups": "tenants"}, "create user failed: user 'tenant@pve' already exists"},
		"a comment, with the groups said again":  {"", "PUT", "/access/users/tenant@pve", map[string]any{"comment": "x", "groups": "tenants"}, "OK"},
		"a comment, without the groups":          {"", "PUT", "/access/users/tenant@pve", map[string]any{"comment": "x"}, "Permission check failed (/access/groups, User.Modify)"},
		"a user moved to others' group":          {"", "PUT", "/access/users/tenant@pve", map[string]any{"groups": "staff"}, "Permission check failed (/access/groups/staff, User.Modify)"},
		"an outsider taken into one's group":     {"", "PUT", "/access/users/outsider@pve", map[string]any{"groups": "tenants"}, "Permission check failed"},
		"a user who is not there":                {"", "PUT", "/access/users/nobody@pve", map[string]any{"groups": "tenants"}, "no such user ('nobody@pve')"},
		"a user deleted":                         {"", "DELETE", "/access/users/tenant@pve", nil, "OK"},
		"an outsider deleted":                    {"", "DELETE", "/access/users/outsider@pve", nil, "Permission check failed"},
		"a token for a user of one's group":      {"", "POST", "/access/users/tenant@pve/token/x1", map[string]any{"privsep": 0}, "OK"},
		"a token for an outsider":                {"", "POST", "/access/users/outsider@pve/token/x1", nil, "Permission check failed"},
		"a token for oneself":                    {"", "POST", "/access/users/boss@pve/token/x1", nil, "OK"},
		"a token for oneself, by a token":        {"boss@pve!ci", "POST", "/access/users/boss@pve/token/x1", nil, "Permission check failed"},
		"a token that is there already":          {"", "POST", "/access/users/boss@pve/token/ci", nil, invalid + " tokenid: Token already exists."},
		"a token that is not there":              {"", "DELETE", "/access/users/boss@pve/token/none", nil, "no such token 'none' for user 'boss@pve'"},
		"a role on one's pool":                   {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "Tenant", "users": "tenant@pve"}, "OK"},
		"a role on a pool below it":              {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent/a", "roles": "Tenant", "groups": "tenants"}, "OK"},
		"a role for an outsider":                 {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "Tenant", "users": "outsider@pve"}, "OK"},
		"a role with more than one has":          {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "PVEVMAdmin", "users": "tenant@pve"}, "ACL update failed: 400 Parameter verification failed. role: Cannot add role 'PVEVMAdmin' - requires 'Permissions.Modify' or superset of privileges."},
		"a role that propagates what does not":   {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent/once", "roles": "Once", "users": "tenant@pve"}, "ACL update failed: 400 Parameter verification failed. role: Cannot add role 'Once' with propagation - requires 'Permissions.Modify' or propagated superset of privileges."},
		"the same without propagating":           {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent/once", "roles": "Once", "users": "tenant@pve", "propagate": 0}, "OK"},
		"NoAccess":                               {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "NoAccess", "users": "tenant@pve"}, "ACL update failed: 400 Parameter verification failed. role: Cannot add role 'NoAccess' - requires 'Permissions.Modify'"},
		"taking a role that one could give":      {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "Tenant", "users": "tenant@pve", "delete": 1}, "OK"},
		"taking a role that one could not":       {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "PVEAdmin", "users": "tenant@pve", "delete": 1}, "ACL update failed: 400 Parameter verification failed. role: Cannot remove role 'PVEAdmin' - requires 'Permissions.Modify' or superset of privileges."},
		"a role on another pool":                 {"", "PUT", "/access/acl", map[string]any{"path": "/pool/kubehenge", "roles": "Tenant", "users": "tenant@pve"}, "Permission check failed (/pool/kubehenge, Permissions.Modify|Pool.Allocate)"},
		"a role on everything":                   {"", "PUT", "/access/acl", map[string]any{"path": "/", "roles": "Tenant", "users": "tenant@pve"}, "Permission check failed (/, Permissions.Modify)"},
		"a role that does not exist":             {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "None", "users": "tenant@pve"}, "ACL update failed: role 'None' does not exist"},
		"a role for nobody":                      {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "Tenant", "users": "nobody@pve"}, "ACL update failed: user 'nobody@pve' does not exist"},
		"a role for a token that does not exist": {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "Tenant", "tokens": "tenant@pve!none"}, "ACL update failed: no such token 'none' for user 'tenant@pve'"},
		"a path that is none":                    {"", "PUT", "/access/acl", map[string]any{"path": "/pool/lent/a/b/c", "roles": "Tenant", "users": "tenant@pve"}, invalid + " path: invalid ACL path '/pool/lent/a/b/c'"},
		"a pool in one's pool":                   {"", "POST", "/pools", map[string]any{"poolid": "lent/a"}, "OK"},
		"a pool in a pool that is not there":     {"", "POST", "/pools", map[string]any{"poolid": "lent/a/b"}, "create pool failed: parent 'lent/a' of pool 'lent/a/b' does not exist"},
		"a pool that begins with a digit":        {"", "POST", "/pools", map[string]any{"poolid": "lent/1"}, "create pool failed: pool name must start with a letter"},
		"a pool beside it":                       {"", "POST", "/pools", map[string]any{"poolid": "mine"}, "Permission check failed (/pool/mine, Pool.Allocate)"},
		"a machine in one's pool":                {"", "POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500, "pool": "lent"}, "OK"},
		"a machine in no pool":                   {"", "POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500}, "Permission check failed"},
		"a machine in a pool that is not there":  {"", "POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500, "pool": "lent/none"}, "Permission check failed (pool 'lent/none' does not exist)"},
		"a machine with more than one may set":   {"", "POST", "/nodes/pve1/qemu", map[string]any{"vmid": 500, "pool": "lent", "memory": 1024}, "Permission check failed (/vms/500, VM.Config.Memory)"},
		"a role that one may not make":           {"", "POST", "/access/roles", map[string]any{"roleid": "Mine"}, "Permission check failed (/access, Sys.Modify)"},
		"a group that one may not make":          {"", "POST", "/access/groups", map[string]any{"groupid": "mine"}, "Permission check failed (/access/groups, Group.Allocate)"},
		"the entries that one may change":        {"", "GET", "/access/acl", nil, "OK"},
		"the rights of somebody else":            {"", "GET", "/access/permissions", map[string]any{"userid": "tenant@pve"}, "Permission check failed (/access, Sys.Audit)"},
		"the rights of one's own token":          {"", "GET", "/access/permissions", map[string]any{"userid": "boss@pve!ci"}, "OK"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := delegates(t)
			who := core.Or(c.who, "boss@pve")
			a := as(t, s, who, "password-boss").call(c.method, c.path, c.params)
			if got := told(a); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// told is what an answer says: its message, and the errors of parameters behind it.
func told(a answer) string {
	if a.Status == 200 {
		return "OK"
	}
	var parts []string
	for _, line := range strings.Split(strings.TrimSpace(messageOf(a)), "\n") {
		parts = append(parts, strings.TrimSpace(line))
	}
	for _, k := range core.SortedKeys(a.Errors) {
		parts = append(parts, k+": "+strings.TrimSpace(a.Errors[k]))
	}
	return strings.Join(parts, " ")
}

// TestATokenEndsWithItsUser: whatever was given to a user and its tokens goes with it.
func TestATokenEndsWithItsUser(t *testing.T) {
	s, r := delegates(t)
	secret := r.must("POST", "/access/users/tenant@pve/token/x1", nil).(map[string]any)["value"]
	for kind, id := range map[string]string{"users": "tenant@pve", "tokens": "tenant@pve!x1"} {
		r.must("PUT", "/access/acl", map[string]any{"path": "/pool/lent", "roles": "Tenant", kind: id})
	}
	token := stranger(t, s)
	token.header.Set("Authorization", fmt.Sprintf("PVEAPIToken=tenant@pve!x1=%s", secret))
	token.must("GET", "/version", nil)
	r.must("PUT", "/access/users/tenant@pve", map[string]any{"enable": 0, "groups": "tenants"})
	if a := token.call("GET", "/version", nil); a.Status != 401 {
		t.Errorf("the token of a user who is switched off: %d", a.Status)
	}
	r.must("DELETE", "/access/users/tenant@pve", nil)
	if a := r.call("GET", "/access/acl", nil); strings.Contains(a.Body, "tenant@pve") {
		t.Errorf("entries are left: %s", a.Body)
	}
	r.must("POST", "/access/users", map[string]any{"userid": "tenant@pve"})
	if a := token.call("GET", "/version", nil); a.Status != 401 {
		t.Errorf("the old token of a new user: %d", a.Status)
	}
}

// TestNestedPoolsKeepTheirEntries shows a quirk of Proxmox VE: entries of a nested pool outlive it.
func TestNestedPoolsKeepTheirEntries(t *testing.T) {
	_, r := delegates(t)
	r.must("POST", "/pools", map[string]any{"poolid": "lent/a"})
	for _, path := range []string{"/pool/lent", "/pool/lent/a"} {
		r.must("PUT", "/access/acl", map[string]any{"path": path, "roles": "Tenant", "users": "tenant@pve"})
	}
	if a := r.call("DELETE", "/pools", map[string]any{"poolid": "lent"}); a.Reason != "delete pool failed: pool 'lent' is not empty (contains pool 'lent/a')" {
		t.Errorf("delete: %s", a.Reason)
	}
	r.must("DELETE", "/pools", map[string]any{"poolid": "lent/a"})
	if a := r.call("GET", "/access/acl", nil); !strings.Contains(a.Body, `"/pool/lent/a"`) {
		t.Errorf("the nested pool's entries went with it: %s", a.Body)
	}
	r.must("DELETE", "/pools", map[string]any{"poolid": "lent"})
	if a := r.call("GET", "/access/acl", nil); strings.Contains(a.Body, `/pool/lent`) {
		t.Errorf("the pool's entries are left: %s", a.Body)
	}
}
