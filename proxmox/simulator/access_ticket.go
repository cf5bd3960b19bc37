package simulator

import (
	"regexp"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

// realm is a place where users are known.
type realm struct {
	name, kind, comment string
	isDefault           bool
	options             map[string]string
}

// accessEndpoints are sign-in, realms, passwords and the question what one may do.
func accessEndpoints() []*endpoint {
	return []*endpoint{
		on("GET /access", anyone, "", index("acl domains groups openid password permissions roles tfa ticket users vncticket")),
		on("GET /access/ticket", anyone, "", func(*call) (any, error) { return nil, nil }, world),
		on("POST /access/ticket", anyone, "username* string(..64); password* string; realm realm; otp string; path string(..64) requires=privs; privs priv-list(..64) requires=path; tfa-challenge string; new-format bool",
			(*call).newTicket, world, noToken),
		on("GET /access/domains", anyone, "", (*call).listRealms, world),
		on("GET /access/domains/{realm}", need("/access/realm", "Realm.Allocate|Sys.Audit"), "", (*call).readRealm),
		on("PUT /access/password", either(self, all(need("/access/realm/{@realm}", "Realm.AllocateUser"), groupsOf(false, "User.Modify"))),
			"userid* userid; password* string(8..64); confirmation-password string(5..64)", (*call).changePassword, noToken),
		on("GET /access/permissions", anyone, "userid opaque; path string", (*call).readPermissions),
	}
}

// newTicket signs a user in, or renews a ticket that is given as the password.
func (c *call) newTicket() (any, error) {
	user := c.text("username")
	if c.has("realm") {
		user += "@" + c.text("realm")
	}
	s := c.s
	if !s.active(user) {
		return nil, authenticationFailure()
	}
	renews := s.renews(user, c.text("password"))
	answered := c.has("tfa-challenge") && c.answeredChallenge(user)
	if !renews && !answered && (c.has("tfa-challenge") || !s.knows(user, c.text("password"))) {
		return nil, authenticationFailure()
	}
	if !renews && !answered {
		challenge, err := c.secondFactor(user)
		if err != nil {
			return nil, err
		}
		if challenge != "" {
			return row{"username": user, "ticket": challenge, "CSRFPreventionToken": s.newCSRF(user), "NeedTFA": 1}, nil
		}
	}
	data := row{"username": user, "cap": s.capabilities(user)}
	if s.cluster != "" && s.acl.Has(user, "/", "Sys.Audit") {
		data["clustername"] = s.cluster
	}
	if c.has("path") {
		for _, p := range c.list("privs") {
			if !s.acl.Has(user, c.text("path"), p) {
				return nil, authenticationFailure()
			}
		}
		return data, nil
	}
	data["ticket"], data["CSRFPreventionToken"] = s.newTicket(user, ""), s.newCSRF(user)
	return data, nil
}

// renews tells whether the password is a ticket of the user, or of the superuser.
func (s *Server) renews(user, password string) bool {
	owner, ok := s.verifyTicket(password, "")
	return ok && (owner == user || owner == permission.Superuser)
}

// knows tells whether the password is the user's.
func (s *Server) knows(user, password string) bool {
	name := user[strings.LastIndexByte(user, '@')+1:]
	return s.realms[name] != nil && s.realms[name].kind != "openid" && password != "" && s.acl.Users[user].Password == password
}

// capabilityOf says which privileges count for which part of the web interface.
var capabilityOf = map[string]*regexp.Regexp{
	"vms":     regexp.MustCompile(`^(VM\.|Permissions\.Modify)`),
	"access":  regexp.MustCompile(`^((User|Group)\.|Permissions\.Modify)`),
	"storage": regexp.MustCompile(`^(Datastore\.|Permissions\.Modify)`),
	"nodes":   regexp.MustCompile(`^(Sys\.|Permissions\.Modify)`),
	"sdn":     regexp.MustCompile(`^(SDN\.|Permissions\.Modify)`),
	"mapping": regexp.MustCompile(`^(Mapping\.|Permissions\.Modify)`),
	"dc":      regexp.MustCompile(`^(Sys\.Audit|Sys\.Modify|SDN\.)`),
}

// capabilities is the coarse map of privileges that a sign-in returns.
func (s *Server) capabilities(user string) row {
	caps := row{}
	for part := range capabilityOf {
		caps[part] = row{}
	}
	paths := []string{"/", "/nodes", "/access/groups", "/vms", "/storage", "/sdn", "/mapping"}
	for path := range s.acl.ACL {
		paths = append(paths, path)
	}
	for _, path := range paths {
		for p := range s.acl.Privileges(user, path) {
			for _, part := range partsOf(path) {
				if capabilityOf[part].MatchString(p) {
					caps[part].(row)[p] = 1
				}
			}
		}
	}
	return caps
}

// partsOf maps an ACL path to the parts of the interface it belongs to: pools hold guests and storages.
func partsOf(path string) []string {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch {
	case top == "":
		return []string{"dc"}
	case top == "pool":
		return []string{"vms", "storage"}
	case capabilityOf[top] != nil:
		return []string{top}
	}
	return nil
}

func (c *call) listRealms() (any, error) {
	rows := []any{}
	for _, name := range sortedKeys(c.s.realms) {
		r := c.s.realms[name]
		data := row{"realm": name, "type": r.kind}
		if r.comment != "" {
			data["comment"] = r.comment
		}
		if r.isDefault {
			data["default"] = 1
		}
		rows = append(rows, data)
	}
	return rows, nil
}

func (c *call) readRealm() (any, error) {
	r := c.s.realms[c.text("realm")]
	if r == nil {
		return nil, fail("domain '%s' does not exist", c.text("realm"))
	}
	data := row{"type": r.kind, "digest": digestOf(r.options)}
	for k, v := range r.options {
		data[k] = v
	}
	if r.comment != "" {
		data["comment"] = r.comment
	}
	return data, nil
}

func (c *call) changePassword() (any, error) {
	u := c.s.acl.Users[c.text("userid")]
	if u == nil {
		return nil, fail("no such user ('%s')", c.text("userid"))
	}
	if c.user != permission.Superuser && c.s.acl.Users[c.user].Password != c.text("confirmation-password") {
		return nil, invalid("confirmation-password", "password confirmation failed")
	}
	u.Password = c.text("password")
	return nil, nil
}

// defaultPaths are listed by /access/permissions beside those with entries.
var defaultPaths = []string{"/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"}

// readPermissions answers what a user or token may do, on one path or on all that matter.
func (c *call) readPermissions() (any, error) {
	subject := c.text("userid")
	if subject == "" {
		subject = c.subject()
	}
	user, _ := permission.SplitToken(subject)
	if subject != c.subject() && (c.token != "" || user != c.user) && !c.may("/access", "Sys.Audit") {
		return nil, denied("/access, Sys.Audit")
	}
	if path := c.text("path"); path != "" {
		return row{path: c.s.flags(subject, path)}, nil
	}
	paths := map[string]bool{}
	for _, p := range defaultPaths {
		paths[p] = true
	}
	for p := range c.s.acl.ACL {
		paths[p] = true
	}
	for id, pool := range c.s.acl.Pools {
		paths["/pool/"+id] = true
		for vmid := range pool.VMs {
			paths["/vms/"+itoa(vmid)] = true
		}
		for st := range pool.Storages {
			paths["/storage/"+st] = true
		}
	}
	data := row{}
	for p := range paths {
		if flags := c.s.flags(subject, p); len(flags) > 0 {
			data[p] = flags
		}
	}
	return data, nil
}

func (s *Server) flags(subject, path string) row {
	flags := row{}
	for p, propagate := range s.acl.Privileges(subject, path) {
		flags[p] = bit(propagate)
	}
	return flags
}
