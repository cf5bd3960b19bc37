package access

import (
	"errors"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

// realmOf is the realm of a user.
func realmOf(s *core.State, user string) (*core.Realm, error) {
	name := user[strings.LastIndexByte(user, '@')+1:]
	if r := s.Realms[name]; r != nil {
		return r, nil
	}
	return nil, core.Fail("auth domain '%s' does not exist", name)
}

// authenticate checks a user's password. Sign-ins keep the reason to themselves.
func authenticate(s *core.State, user, password string) error {
	r, err := realmOf(s, user)
	u := s.ACL.Users[user]
	switch {
	case err != nil:
		return err
	case r.Kind == "openid":
		return errors.New("OpenID realm does not allow password verification.")
	case password == "":
		return errors.New("no password")
	case r.Kind == "ldap" || r.Kind == "ad":
		return r.Directory.Authenticate(strings.TrimSuffix(user, "@"+r.Name), password)
	case u == nil || u.Password == "":
		return errors.New("no password set")
	case u.Password != password:
		return errors.New(map[bool]string{true: "Authentication failure", false: "invalid credentials"}[r.Kind == "pam"])
	}
	return nil
}

// reauthenticate asks whoever changes how a user signs in for their own password; the superuser needs none, and nobody
// else changes it. Source: pve-access-control RPCEnvironment.pm reauth_user_for_user_modification.
func reauthenticate(c *core.Call, user, param string) error {
	switch {
	case c.State.ACL.Users[user] == nil:
		return core.Fail("no such user ('%s')", user)
	case c.User == permission.Superuser:
		return nil
	case user == permission.Superuser:
		return core.Denied("")
	case !c.Has(param):
		return core.Invalid(param, "password is required to modify user")
	}
	return authenticate(c.State, c.User, c.Text(param))
}

// setPassword stores a password where the realm keeps them itself.
func setPassword(s *core.State, user, password string, u *permission.User) error {
	r, err := realmOf(s, user)
	switch {
	case err != nil:
		return err
	case r.Kind != "pam" && r.Kind != "pve":
		return core.Fail("can't set password on auth type '%s'", r.Kind)
	}
	u.Password = password
	return nil
}

func changePassword(c *core.Call) (any, error) {
	user := c.Text("userid")
	if err := reauthenticate(c, user, "confirmation-password"); err != nil {
		return nil, err
	}
	if c.User != permission.Superuser && c.User != user && strings.HasSuffix(user, "@pam") {
		return nil, core.Denied("") // a system user's is the superuser's to change
	}
	return nil, setPassword(c.State, user, c.Text("password"), c.State.ACL.Users[user])
}
