package simulator

import (
	"errors"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

// realmOf is the realm of a user.
func (s *state) realmOf(user string) (*realm, error) {
	name := user[strings.LastIndexByte(user, '@')+1:]
	if r := s.realms[name]; r != nil {
		return r, nil
	}
	return nil, fail("auth domain '%s' does not exist", name)
}

// authenticate checks a user's password. Sign-ins keep the reason to themselves.
func (s *state) authenticate(user, password string) error {
	r, err := s.realmOf(user)
	u := s.acl.Users[user]
	switch {
	case err != nil:
		return err
	case r.kind == "openid":
		return errors.New("OpenID realm does not allow password verification.")
	case password == "":
		return errors.New("no password")
	case r.kind == "ldap" || r.kind == "ad":
		return r.directory.authenticate(strings.TrimSuffix(user, "@"+r.name), password)
	case u == nil || u.Password == "":
		return errors.New("no password set")
	case u.Password != password:
		return errors.New(map[bool]string{true: "Authentication failure", false: "invalid credentials"}[r.kind == "pam"])
	}
	return nil
}

// reauthenticate asks whoever changes how a user signs in for their own password; the superuser needs none, and nobody
// else changes it. Source: pve-access-control RPCEnvironment.pm reauth_user_for_user_modification.
func (c *call) reauthenticate(user, param string) error {
	switch {
	case c.s.acl.Users[user] == nil:
		return fail("no such user ('%s')", user)
	case c.user == permission.Superuser:
		return nil
	case user == permission.Superuser:
		return denied("")
	case !c.has(param):
		return invalid(param, "password is required to modify user")
	}
	return c.s.authenticate(c.user, c.text(param))
}

// setPassword stores a password where the realm keeps them itself.
func (s *state) setPassword(user, password string, u *permission.User) error {
	r, err := s.realmOf(user)
	switch {
	case err != nil:
		return err
	case r.kind != "pam" && r.kind != "pve":
		return fail("can't set password on auth type '%s'", r.kind)
	}
	u.Password = password
	return nil
}

func (c *call) changePassword() (any, error) {
	user := c.text("userid")
	if err := c.reauthenticate(user, "confirmation-password"); err != nil {
		return nil, err
	}
	if c.user != permission.Superuser && c.user != user && strings.HasSuffix(user, "@pam") {
		return nil, denied("") // a system user's is the superuser's to change
	}
	return nil, c.s.setPassword(user, c.text("password"), c.s.acl.Users[user])
}
