package access

import (
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

const userFields = "enable bool default=1; expire int(0..); firstname string(..1024); lastname string(..1024); email email-opt(..254); comment string(..2048); keys string(/[0-9a-zA-Z!=]*/); groups groupid-list"

// userEndpoints are users, their tokens, and groups.
func userEndpoints() []*core.Endpoint {
	modify := groupsOf(true, "User.Modify")
	ofSelf := core.Either(self, groupsOf(false, "User.Modify"))
	realm := core.Need("/access/realm/{@realm}", "Realm.AllocateUser")
	return []*core.Endpoint{
		core.On("GET /access/users", core.Anyone, "enabled bool; full bool", listUsers),
		core.On("POST /access/users", core.All(realm, groupsOfNew("User.Modify")), "userid* userid; password string(8..64);"+userFields, createUser),
		core.On("GET /access/users/{userid}", core.Either(groupsOf(false, "User.Modify|Sys.Audit")), "", readUser),
		core.On("PUT /access/users/{userid}", modify, "append bool requires=groups;"+userFields, updateUser),
		core.On("DELETE /access/users/{userid}", core.All(existing, realm, groupsOf(false, "User.Modify")), "", deleteUser),
		core.On("GET /access/users/{userid}/token", ofSelf, "", listTokens),
		core.On("GET /access/users/{userid}/token/{tokenid}", ofSelf, "", readToken),
		core.On("POST /access/users/{userid}/token/{tokenid}", ofSelf, "privsep bool default=1; expire int(0..); comment string", createToken),
		core.On("PUT /access/users/{userid}/token/{tokenid}", ofSelf, "privsep bool; expire int(0..); comment string; regenerate bool; delete configid-list", updateToken),
		core.On("DELETE /access/users/{userid}/token/{tokenid}", ofSelf, "", deleteToken),
		core.On("GET /access/groups", core.Anyone, "", listGroups),
		core.On("POST /access/groups", core.Need("/access/groups", "Group.Allocate"), "groupid* groupid; comment string", createGroup),
		core.On("GET /access/groups/{groupid}", core.Need("/access/groups", "Sys.Audit|Group.Allocate"), "", readGroup),
		core.On("PUT /access/groups/{groupid}", core.Need("/access/groups", "Group.Allocate"), "comment string", updateGroup),
		core.On("DELETE /access/groups/{groupid}", core.Need("/access/groups", "Group.Allocate"), "", deleteGroup),
	}
}

// self is the user that the call is about, signed in with a ticket: a token is not its user.
func self(c *core.Call) error {
	if c.Token == "" && c.User == c.Text("userid") {
		return nil
	}
	return core.Denied("")
}

func existing(c *core.Call) error {
	if c.IsSuperuser() || c.State.ACL.Users[c.Text("userid")] != nil {
		return nil
	}
	return core.Fail("no such user ('%s')", c.Text("userid"))
}

// groupsOf allows with the privilege on all groups, or on one that the user is in. With groups that the call sets, each
// of them must be allowed as well. Source: pve-access-control RPCEnvironment.pm, test userid-group.
func groupsOf(sets bool, privileges string) core.Guard {
	return func(c *core.Call) error {
		if err := existing(c); err != nil {
			return err
		}
		if c.IsSuperuser() || c.May("/access/groups", privileges) {
			return nil
		}
		if sets {
			if err := givenGroups(c, privileges); err != nil {
				return err
			}
		}
		for id, g := range c.State.ACL.Groups {
			if g.Users[c.Text("userid")] && c.May("/access/groups/"+id, privileges) {
				return nil
			}
		}
		return core.Denied("")
	}
}

// groupsOfNew is groupsOf for a user that is not there yet.
func groupsOfNew(privileges string) core.Guard {
	return func(c *core.Call) error {
		if c.May("/access/groups", privileges) {
			return nil
		}
		return givenGroups(c, privileges)
	}
}

func givenGroups(c *core.Call, privileges string) error {
	groups := c.List("groups")
	if len(groups) == 0 {
		return core.Denied("/access/groups, " + privileges)
	}
	for _, g := range groups {
		if c.State.ACL.Groups[g] == nil || !c.May("/access/groups/"+g, privileges) {
			return core.Denied("/access/groups/" + g + ", " + privileges)
		}
	}
	return nil
}

func listUsers(c *core.Call) (any, error) {
	rows := []any{}
	for _, id := range core.SortedKeys(c.State.ACL.Users) {
		u := c.State.ACL.Users[id]
		if !seesUser(c, id) || c.Has("enabled") && c.Flag("enabled", true) != u.Enable {
			continue
		}
		data := userFieldsOf(u)
		data["userid"] = id
		if r := c.State.Realms[id[strings.LastIndexByte(id, '@')+1:]]; r != nil {
			data["realm-type"] = r.Kind
		}
		if c.Flag("full", false) {
			data["groups"] = strings.Join(groupNames(c.State, id), ",")
			data["tokens"] = tokenRows(u)
		}
		addLocks(c.State, data, id)
		rows = append(rows, data)
	}
	return rows, nil
}

func seesUser(c *core.Call, id string) bool {
	if c.Token == "" && id == c.User || c.May("/access/groups", "User.Modify|Sys.Audit") {
		return true
	}
	return slices.ContainsFunc(groupNames(c.State, id), func(g string) bool { return c.May("/access/groups/"+g, "User.Modify|Sys.Audit") })
}

func groupNames(s *core.State, user string) []string {
	groups := []string{}
	for _, id := range core.SortedKeys(s.ACL.Groups) {
		if s.ACL.Groups[id].Users[user] {
			groups = append(groups, id)
		}
	}
	return groups
}

func userFieldsOf(u *permission.User) core.Row {
	data := core.Row{"enable": core.Bit(u.Enable), "expire": u.Expire}
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

func readUser(c *core.Call) (any, error) {
	id := c.Text("userid")
	u := c.State.ACL.Users[id]
	if u == nil {
		return nil, core.Fail("no such user ('%s')", id)
	}
	data := userFieldsOf(u)
	data["groups"] = groupNames(c.State, id)
	data["tokens"] = nil
	if len(u.Tokens) > 0 {
		tokens := core.Row{}
		for name, t := range u.Tokens {
			tokens[name] = tokenInfo(t)
		}
		data["tokens"] = tokens
	}
	return data, nil
}

func createUser(c *core.Call) (any, error) {
	return nil, c.Locked(core.UserLock, "create user failed", func() error { return addUser(c) })
}

func addUser(c *core.Call) error {
	id := c.Text("userid")
	if c.State.ACL.Users[id] != nil {
		return core.Fail("user '%s' already exists", id)
	}
	u := &permission.User{Enable: true, Tokens: map[string]*permission.Token{}}
	if c.Has("password") {
		if err := setPassword(c.State, id, c.Text("password"), u); err != nil {
			return err
		}
	}
	if err := setGroups(c, id, false); err != nil {
		return err
	}
	setUser(c, u)
	c.State.ACL.Users[id] = u
	c.State.ACL.Changed()
	return nil
}

func setUser(c *core.Call, u *permission.User) {
	u.Enable = c.Flag("enable", u.Enable)
	u.Expire = int64(c.Number("expire", int(u.Expire)))
	for name, field := range map[string]*string{"firstname": &u.FirstName, "lastname": &u.LastName, "email": &u.Email, "comment": &u.Comment, "keys": &u.Keys} {
		if c.Has(name) {
			*field = c.Text(name)
		}
	}
}

// setGroups puts the user into the groups that the call names; without adding, into no others.
func setGroups(c *core.Call, id string, adding bool) error {
	if !c.Has("groups") {
		return nil
	}
	for _, g := range c.List("groups") {
		if c.State.ACL.Groups[g] == nil {
			return core.Fail("no such group '%s'", g)
		}
	}
	if !adding {
		for _, g := range c.State.ACL.Groups {
			delete(g.Users, id)
		}
	}
	for _, g := range c.List("groups") {
		c.State.ACL.Groups[g].Users[id] = true
	}
	return nil
}

func updateUser(c *core.Call) (any, error) {
	return nil, c.Locked(core.UserLock, "update user failed", func() error { return changeUser(c) })
}

func changeUser(c *core.Call) error {
	id := c.Text("userid")
	u := c.State.ACL.Users[id]
	if u == nil {
		return core.Fail("no such user ('%s')", id)
	}
	if err := setGroups(c, id, c.Flag("append", false)); err != nil {
		return err
	}
	setUser(c, u)
	c.State.ACL.Changed()
	return nil
}

func deleteUser(c *core.Call) (any, error) {
	return nil, c.Locked(core.UserLock, "delete user failed", func() error {
		forgetUser(c.State, c.Text("userid"))
		return nil
	})
}
