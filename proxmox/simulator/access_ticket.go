package simulator

import "kubehenge.dev/proxmox/simulator/permission"

// accessEndpoints are sign-in, realms, passwords and the question what one may do.
func accessEndpoints() []*Endpoint {
	return []*Endpoint{
		On("GET /access", Anyone, "", Index("acl domains groups openid password permissions roles tfa ticket users vncticket")),
		On("GET /access/ticket", Anyone, "", func(*call) (any, error) { return nil, nil }, World),
		On("POST /access/ticket", Anyone, "username* string(..64); password* string; realm realm(..32); otp string; path string(..64) requires=privs; privs priv-list(..64) requires=path; tfa-challenge string; new-format bool",
			newTicket, World, NoToken),
		On("PUT /access/password", Either(self, All(Need("/access/realm/{@realm}", "Realm.AllocateUser"), groupsOf(false, "User.Modify"))),
			"userid* userid; password* string(8..64); confirmation-password string(5..64)", changePassword, NoToken),
		On("GET /access/permissions", Anyone, "userid opaque; path string", readPermissions),
	}
}

// newTicket signs a user in, or renews a ticket that is given as the password. With a path it signs nobody in: it tells
// whether the user would have the privileges there.
func newTicket(c *call) (any, error) {
	user := c.Text("username")
	if c.Has("realm") {
		user += "@" + c.Text("realm")
	}
	s := c.State
	if !s.Active(user) {
		return nil, AuthenticationFailure()
	}
	if c.Has("path") {
		return verifyPrivileges(c, user)
	}
	challenge, err := signInAs(c, user)
	if err != nil {
		s.Log.Debug("sign-in refused", "user", user, "reason", err)
		return nil, AuthenticationFailure()
	}
	data := Row{"username": user, "CSRFPreventionToken": s.Tickets.SignCSRF(user)}
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
func signInAs(c *call, user string) (challenge string, err error) {
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

func addClusterName(s *State, data Row, user string) {
	if s.Cluster != "" && s.ACL.Has(user, "/", "Sys.Audit") {
		data["clustername"] = s.Cluster
	}
}

// verifyPrivileges is the sign-in that gives no ticket; it asks for no second factor, but one that is given must be right.
func verifyPrivileges(c *call, user string) (any, error) {
	path, ok := permission.NormalizePath(c.Text("path"))
	owner, isTicket := c.State.Tickets.Verify(c.Text("password"), "")
	if !isTicket || owner != user {
		if authenticate(c.State, user, c.Text("password")) != nil {
			return nil, AuthenticationFailure()
		}
		if _, err := secondFactor(c, user); err != nil {
			return nil, AuthenticationFailure()
		}
	}
	privileges := c.List("privs")
	if !ok || len(privileges) == 0 {
		return nil, AuthenticationFailure()
	}
	for _, p := range privileges {
		if !c.State.ACL.Has(user, path, p) {
			return nil, AuthenticationFailure()
		}
	}
	data := Row{"username": user, "cap": capabilities(c.State, user)}
	addClusterName(c.State, data, user)
	return data, nil
}

// renews tells whether the password is a ticket of the user, or of the superuser.
func renews(s *State, user, password string) bool {
	owner, ok := s.Tickets.Verify(password, "")
	return ok && (owner == user || owner == permission.Superuser)
}
