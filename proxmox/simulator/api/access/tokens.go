package access

import (
	"slices"

	"github.com/google/uuid"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
)

func tokenInfo(t *permission.Token) core.Row {
	data := core.Row{"privsep": core.Bit(t.Privsep), "expire": t.Expire}
	if t.Comment != "" {
		data["comment"] = t.Comment
	}
	return data
}

func tokenRows(u *permission.User) []any {
	rows := []any{}
	for _, name := range core.SortedKeys(u.Tokens) {
		data := tokenInfo(u.Tokens[name])
		data["tokenid"] = name
		rows = append(rows, data)
	}
	return rows
}

func listTokens(c *core.Call) (any, error) {
	u := c.State.ACL.Users[c.Text("userid")]
	if u == nil {
		return nil, core.Fail("no such user ('%s')", c.Text("userid"))
	}
	return tokenRows(u), nil
}

// TokenOf returns a token of a user; the error is what Proxmox VE says if there is none.
func TokenOf(s *core.State, user, name string) (*permission.Token, error) {
	if u := s.ACL.Users[user]; u == nil {
		return nil, core.Fail("no such user ('%s')", user)
	} else if t := u.Tokens[name]; t != nil {
		return t, nil
	}
	return nil, core.Fail("no such token '%s' for user '%s'", name, user)
}

func readToken(c *core.Call) (any, error) {
	t, err := TokenOf(c.State, c.Text("userid"), c.Text("tokenid"))
	if err != nil {
		return nil, err
	}
	return tokenInfo(t), nil
}

func createToken(c *core.Call) (any, error) {
	user, name := c.Text("userid"), c.Text("tokenid")
	u := c.State.ACL.Users[user]
	if u == nil {
		return nil, core.Fail("no such user ('%s')", user)
	}
	if u.Tokens[name] != nil {
		return nil, core.Invalid("tokenid", "Token already exists.")
	}
	t := &permission.Token{Secret: uuid.NewString(), Privsep: c.Flag("privsep", true), Expire: int64(c.Number("expire", 0)), Comment: c.Text("comment")}
	err := c.Locked(core.UserLock, "generating token failed", func() error {
		u.Tokens[name] = t
		c.State.ACL.Changed()
		return nil
	})
	if err != nil {
		return nil, err
	}
	info := core.Row{"privsep": 1}
	for _, p := range []string{"privsep", "expire", "comment"} {
		if c.Has(p) {
			info[p] = core.Scalar(c.Params[p])
		}
	}
	return core.Row{"full-tokenid": user + "!" + name, "value": t.Secret, "info": info}, nil
}

func updateToken(c *core.Call) (any, error) {
	t, err := TokenOf(c.State, c.Text("userid"), c.Text("tokenid"))
	if err != nil {
		return nil, err
	}
	t.Privsep = c.Flag("privsep", t.Privsep)
	t.Expire = int64(c.Number("expire", int(t.Expire)))
	if c.Has("comment") {
		t.Comment = c.Text("comment")
	}
	if slices.Contains(c.List("delete"), "comment") {
		t.Comment = ""
	}
	c.State.ACL.Changed()
	data := tokenInfo(t)
	if c.Flag("regenerate", false) {
		t.Secret = uuid.NewString()
		return core.Row{"full-tokenid": c.Text("userid") + "!" + c.Text("tokenid"), "value": t.Secret, "info": data}, nil
	}
	return data, nil
}

func deleteToken(c *core.Call) (any, error) {
	user, name := c.Text("userid"), c.Text("tokenid")
	if _, err := TokenOf(c.State, user, name); err != nil {
		return nil, err
	}
	return nil, c.Locked(core.UserLock, "deleting token failed", func() error {
		delete(c.State.ACL.Users[user].Tokens, name)
		c.State.ACL.Forget(permission.KindToken, user+"!"+name)
		c.State.ACL.Changed()
		return nil
	})
}
