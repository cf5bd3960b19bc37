package simulator

import "kubehenge.dev/proxmox/simulator/permission"

// accessEndpoints are sign-in, realms, passwords and the question what one may do.
func accessEndpoints() []*endpoint {
	return []*endpoint{
		on("GET /access", anyone, "", index("acl domains groups openid password permissions roles tfa ticket users vncticket")),
		on("GET /access/ticket", anyone, "", func(*call) (any, error) { return nil, nil }, world),
		on("POST /access/ticket", anyone, "username* string(..64); password* string; realm realm(..32); otp string; path string(..64) requires=privs; privs priv-list(..64) requires=path; tfa-challenge string; new-format bool",
			(*call).newTicket, world, noToken),
		on("PUT /access/password", either(self, all(need("/access/realm/{@realm}", "Realm.AllocateUser"), groupsOf(false, "User.Modify"))),
			"userid* userid; password* string(8..64); confirmation-password string(5..64)", (*call).changePassword, noToken),
		on("GET /access/permissions", anyone, "userid opaque; path string", (*call).readPermissions),
	}
}

// newTicket signs a user in, or renews a ticket that is given as the password. With a path it signs nobody in: it tells
// whether the user would have the privileges there.
func (c *call) newTicket() (any, error) {
	user := c.text("username")
	if c.has("realm") {
		user += "@" + c.text("realm")
	}
	s := c.s
	if !s.active(user) {
		return nil, authenticationFailure()
	}
	if c.has("path") {
		return c.verifyPrivileges(user)
	}
	challenge, err := c.signInAs(user)
	if err != nil {
		s.log.Debug("sign-in refused", "user", user, "reason", err)
		return nil, authenticationFailure()
	}
	data := row{"username": user, "CSRFPreventionToken": s.tickets.SignCSRF(user)}
	if challenge == "" {
		data["ticket"], data["cap"] = s.tickets.Sign(user, ""), s.capabilities(user)
	} else {
		data["ticket"], data["NeedTFA"] = challenge, 1
	}
	s.addClusterName(data, user)
	return data, nil
}

// signInAs checks what the call gives for a user: a ticket, the answer to a challenge, or the password. It returns the
// challenge if a second factor is lacking.
func (c *call) signInAs(user string) (challenge string, err error) {
	switch {
	case c.has("tfa-challenge"):
		return "", c.answerChallenge(user)
	case c.s.renews(user, c.text("password")):
		return "", nil
	}
	if err := c.s.authenticate(user, c.text("password")); err != nil {
		return "", err
	}
	return c.secondFactor(user)
}

func (s *state) addClusterName(data row, user string) {
	if s.cluster != "" && s.acl.Has(user, "/", "Sys.Audit") {
		data["clustername"] = s.cluster
	}
}

// verifyPrivileges is the sign-in that gives no ticket; it asks for no second factor, but one that is given must be right.
func (c *call) verifyPrivileges(user string) (any, error) {
	path, ok := permission.NormalizePath(c.text("path"))
	owner, isTicket := c.s.tickets.Verify(c.text("password"), "")
	if !isTicket || owner != user {
		if c.s.authenticate(user, c.text("password")) != nil {
			return nil, authenticationFailure()
		}
		if _, err := c.secondFactor(user); err != nil {
			return nil, authenticationFailure()
		}
	}
	privileges := c.list("privs")
	if !ok || len(privileges) == 0 {
		return nil, authenticationFailure()
	}
	for _, p := range privileges {
		if !c.s.acl.Has(user, path, p) {
			return nil, authenticationFailure()
		}
	}
	data := row{"username": user, "cap": c.s.capabilities(user)}
	c.s.addClusterName(data, user)
	return data, nil
}

// renews tells whether the password is a ticket of the user, or of the superuser.
func (s *state) renews(user, password string) bool {
	owner, ok := s.tickets.Verify(password, "")
	return ok && (owner == user || owner == permission.Superuser)
}
