package access

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

// accessEndpoints are sign-in, realms, passwords and the question what one may do.
func accessEndpoints() []*core.Endpoint {
	return []*core.Endpoint{
		core.On("GET /access", core.Anyone, "", core.Index("acl domains groups openid password permissions roles tfa ticket users vncticket")),
		core.On("GET /access/ticket", core.Anyone, "", func(*core.Call) (any, error) { return nil, nil }, core.World),
		core.On("POST /access/ticket", core.Anyone, "username* string(..64); password* string; realm realm(..32); otp string; path string(..64) requires=privs; privs priv-list(..64) requires=path; tfa-challenge string; new-format bool",
			newTicket, core.World, core.NoToken),
		core.On("PUT /access/password", core.Either(self, core.All(core.Need("/access/realm/{@realm}", "Realm.AllocateUser"), groupsOf(false, "User.Modify"))),
			"userid* userid; password* string(8..64); confirmation-password string(5..64)", changePassword, core.NoToken),
		core.On("GET /access/permissions", core.Anyone, "userid opaque; path string", readPermissions),
	}
}

// newTicket signs a user in, or renews a ticket that is given as the password. With a path it signs nobody in: it tells
// whether the user would have the privileges there.
func newTicket(c *core.Call) (any, error) {
	user := c.Text("username")
	if c.Has("realm") {
		user += "@" + c.Text("realm")
	}
	s := c.State
	if !s.Active(user) {
		return nil, core.AuthenticationFailure()
	}
	if c.Has("path") {
		return verifyPrivileges(c, user)
	}
	challenge, err := signInAs(c, user)
	if err != nil {
		s.Log.Debug("sign-in refused", "user", user, "reason", err)
		return nil, core.AuthenticationFailure()
	}
	data := core.Row{"username": user, "CSRFPreventionToken": s.Tickets.SignCSRF(user)}
	if challenge == "" {
		data["ticket"], data["cap"] = s.Tickets.Sign(user, ""), capabilities(s, user)
	} else {
		data["ticket"], data["NeedTFA"] = challenge, 1
	}
	addClusterName(s, data, user)
	return data, nil
}

// signInAs checks what the call gives for a user: a ticket, the answer to a challenge, or the password. It returns the
// challenge if a second factor is lacking.
func signInAs(c *core.Call, user string) (challenge string, err error) {
	switch {
	case c.Has("tfa-challenge"):
		return "", answerChallenge(c, user)
	case renews(c.State, user, c.Text("password")):
		return "", nil
	}
	if err := authenticate(c.State, user, c.Text("password")); err != nil {
		return "", err
	}
	return secondFactor(c, user)
}

func addClusterName(s *core.State, data core.Row, user string) {
	if s.Cluster != "" && s.ACL.Has(user, "/", "Sys.Audit") {
		data["clustername"] = s.Cluster
	}
}

// verifyPrivileges is the sign-in that gives no ticket; it asks for no second factor, but one that is given must be right.
func verifyPrivileges(c *core.Call, user string) (any, error) {
	path, ok := permission.NormalizePath(c.Text("path"))
	owner, isTicket := c.State.Tickets.Verify(c.Text("password"), "")
	if !isTicket || owner != user {
		if authenticate(c.State, user, c.Text("password")) != nil {
			return nil, core.AuthenticationFailure()
		}
		if _, err := secondFactor(c, user); err != nil {
			return nil, core.AuthenticationFailure()
		}
	}
	privileges := c.List("privs")
	if !ok || len(privileges) == 0 {
		return nil, core.AuthenticationFailure()
	}
	for _, p := range privileges {
		if !c.State.ACL.Has(user, path, p) {
			return nil, core.AuthenticationFailure()
		}
	}
	data := core.Row{"username": user, "cap": capabilities(c.State, user)}
	addClusterName(c.State, data, user)
	return data, nil
}

// renews tells whether the password is a ticket of the user, or of the superuser.
func renews(s *core.State, user, password string) bool {
	owner, ok := s.Tickets.Verify(password, "")
	return ok && (owner == user || owner == permission.Superuser)
}
