package simulator

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
)

const userFields = "enable bool default=1; expire int(0..); firstname string(..1024); lastname string(..1024); email email-opt(..254); comment string(..2048); keys string(/[0-9a-zA-Z!=]*/); groups groupid-list"

// userEndpoints are users, their tokens, and groups.
func userEndpoints() []*endpoint {
	modify := groupsOf(true, "User.Modify")
	ofSelf := either(self, groupsOf(false, "User.Modify"))
	realm := need("/access/realm/{@realm}", "Realm.AllocateUser")
	return []*endpoint{
		on("GET /access/users", anyone, "enabled bool; full bool", (*call).listUsers),
		on("POST /access/users", all(realm, groupsOfNew("User.Modify")), "userid* userid; password string(8..64);"+userFields, (*call).createUser),
		on("GET /access/users/{userid}", either(groupsOf(false, "User.Modify|Sys.Audit")), "", (*call).readUser),
		on("PUT /access/users/{userid}", modify, "append bool requires=groups;"+userFields, (*call).updateUser),
		on("DELETE /access/users/{userid}", all(existing, realm, groupsOf(false, "User.Modify")), "", (*call).deleteUser),
		on("GET /access/users/{userid}/token", ofSelf, "", (*call).listTokens),
		on("GET /access/users/{userid}/token/{tokenid}", ofSelf, "", (*call).readToken),
		on("POST /access/users/{userid}/token/{tokenid}", ofSelf, "privsep bool default=1; expire int(0..); comment string", (*call).createToken),
		on("PUT /access/users/{userid}/token/{tokenid}", ofSelf, "privsep bool; expire int(0..); comment string; regenerate bool; delete configid-list", (*call).updateToken),
		on("DELETE /access/users/{userid}/token/{tokenid}", ofSelf, "", (*call).deleteToken),
		on("GET /access/groups", anyone, "", (*call).listGroups),
		on("POST /access/groups", need("/access/groups", "Group.Allocate"), "groupid* groupid; comment string", (*call).createGroup),
		on("GET /access/groups/{groupid}", need("/access/groups", "Sys.Audit|Group.Allocate"), "", (*call).readGroup),
		on("PUT /access/groups/{groupid}", need("/access/groups", "Group.Allocate"), "comment string", (*call).updateGroup),
		on("DELETE /access/groups/{groupid}", need("/access/groups", "Group.Allocate"), "", (*call).deleteGroup),
	}
}

// self is the user that the call is about, signed in with a ticket: a token is not its user.
func self(c *call) error {
	if c.token == "" && c.user == c.text("userid") {
		return nil
	}
	return denied("")
}

func existing(c *call) error {
	if c.isSuperuser() || c.s.acl.Users[c.text("userid")] != nil {
		return nil
	}
	return fail("no such user ('%s')", c.text("userid"))
}

// groupsOf allows with the privilege on all groups, or on one that the user is in. With groups that the call sets, each
// of them must be allowed as well. Source: pve-access-control RPCEnvironment.pm, test userid-group.
func groupsOf(sets bool, privileges string) guard {
	return func(c *call) error {
		if err := existing(c); err != nil {
			return err
		}
		if c.isSuperuser() || c.may("/access/groups", privileges) {
			return nil
		}
		if sets {
			if err := c.givenGroups(privileges); err != nil {
				return err
			}
		}
		for id, g := range c.s.acl.Groups {
			if g.Users[c.text("userid")] && c.may("/access/groups/"+id, privileges) {
				return nil
			}
		}
		return denied("")
	}
}

// groupsOfNew is groupsOf for a user that is not there yet.
func groupsOfNew(privileges string) guard {
	return func(c *call) error {
		if c.may("/access/groups", privileges) {
			return nil
		}
		return c.givenGroups(privileges)
	}
}

func (c *call) givenGroups(privileges string) error {
	groups := c.list("groups")
	if len(groups) == 0 {
		return denied("/access/groups, " + privileges)
	}
	for _, g := range groups {
		if c.s.acl.Groups[g] == nil || !c.may("/access/groups/"+g, privileges) {
			return denied("/access/groups/" + g + ", " + privileges)
		}
	}
	return nil
}

func (c *call) listUsers() (any, error) {
	rows := []any{}
	for _, id := range sortedKeys(c.s.acl.Users) {
		u := c.s.acl.Users[id]
		if !c.seesUser(id) || c.has("enabled") && c.flag("enabled", true) != u.Enable {
			continue
		}
		data := userFieldsOf(u)
		data["userid"] = id
		if r := c.s.realms[id[strings.LastIndexByte(id, '@')+1:]]; r != nil {
			data["realm-type"] = r.kind
		}
		if c.flag("full", false) {
			data["groups"] = strings.Join(c.s.groupsOf(id), ",")
			data["tokens"] = tokenRows(u)
		}
		c.s.addLocks(data, id)
		rows = append(rows, data)
	}
	return rows, nil
}

func (c *call) seesUser(id string) bool {
	if c.token == "" && id == c.user || c.may("/access/groups", "User.Modify|Sys.Audit") {
		return true
	}
	return slices.ContainsFunc(c.s.groupsOf(id), func(g string) bool { return c.may("/access/groups/"+g, "User.Modify|Sys.Audit") })
}

func (s *state) groupsOf(user string) []string {
	groups := []string{}
	for _, id := range sortedKeys(s.acl.Groups) {
		if s.acl.Groups[id].Users[user] {
			groups = append(groups, id)
		}
	}
	return groups
}

func userFieldsOf(u *permission.User) row {
	data := row{"enable": bit(u.Enable), "expire": u.Expire}
	for name, v := range map[string]string{"firstname": u.FirstName, "lastname": u.LastName, "email": u.Email, "comment": u.Comment, "keys": u.Keys} {
		if v != "" {
			data[name] = v
		}
	}
	if u.Comment != "" || u.Keys != "" {
		data["email"] = u.Email // a field before others is read back, empty as it is
	}
	return data
}

func (c *call) readUser() (any, error) {
	id := c.text("userid")
	u := c.s.acl.Users[id]
	if u == nil {
		return nil, fail("no such user ('%s')", id)
	}
	data := userFieldsOf(u)
	data["groups"] = c.s.groupsOf(id)
	data["tokens"] = nil
	if len(u.Tokens) > 0 {
		tokens := row{}
		for name, t := range u.Tokens {
			tokens[name] = tokenInfo(t)
		}
		data["tokens"] = tokens
	}
	return data, nil
}

func (c *call) createUser() (any, error) {
	return nil, c.locked(userLock, "create user failed", c.addUser)
}

func (c *call) addUser() error {
	id := c.text("userid")
	if c.s.acl.Users[id] != nil {
		return fail("user '%s' already exists", id)
	}
	u := &permission.User{Enable: true, Tokens: map[string]*permission.Token{}}
	if c.has("password") {
		if err := c.s.setPassword(id, c.text("password"), u); err != nil {
			return err
		}
	}
	if err := c.setGroups(id, false); err != nil {
		return err
	}
	c.setUser(u)
	c.s.acl.Users[id] = u
	c.s.acl.Changed()
	return nil
}

func (c *call) setUser(u *permission.User) {
	u.Enable = c.flag("enable", u.Enable)
	u.Expire = int64(c.number("expire", int(u.Expire)))
	for name, field := range map[string]*string{"firstname": &u.FirstName, "lastname": &u.LastName, "email": &u.Email, "comment": &u.Comment, "keys": &u.Keys} {
		if c.has(name) {
			*field = c.text(name)
		}
	}
}

// setGroups puts the user into the groups that the call names; without adding, into no others.
func (c *call) setGroups(id string, adding bool) error {
	if !c.has("groups") {
		return nil
	}
	for _, g := range c.list("groups") {
		if c.s.acl.Groups[g] == nil {
			return fail("no such group '%s'", g)
		}
	}
	if !adding {
		for _, g := range c.s.acl.Groups {
			delete(g.Users, id)
		}
	}
	for _, g := range c.list("groups") {
		c.s.acl.Groups[g].Users[id] = true
	}
	return nil
}

func (c *call) updateUser() (any, error) {
	return nil, c.locked(userLock, "update user failed", c.changeUser)
}

func (c *call) changeUser() error {
	id := c.text("userid")
	u := c.s.acl.Users[id]
	if u == nil {
		return fail("no such user ('%s')", id)
	}
	if err := c.setGroups(id, c.flag("append", false)); err != nil {
		return err
	}
	c.setUser(u)
	c.s.acl.Changed()
	return nil
}

func (c *call) deleteUser() (any, error) {
	return nil, c.locked(userLock, "delete user failed", func() error {
		c.s.forgetUser(c.text("userid"))
		return nil
	})
}
