package simulator

import (
	"slices"

	"github.com/google/uuid"

	"kubehenge.dev/proxmox/simulator/permission"
)

func tokenInfo(t *permission.Token) row {
	data := row{"privsep": bit(t.Privsep), "expire": t.Expire}
	if t.Comment != "" {
		data["comment"] = t.Comment
	}
	return data
}

func tokenRows(u *permission.User) []any {
	rows := []any{}
	for _, name := range sortedKeys(u.Tokens) {
		data := tokenInfo(u.Tokens[name])
		data["tokenid"] = name
		rows = append(rows, data)
	}
	return rows
}

func (c *call) listTokens() (any, error) {
	u := c.s.acl.Users[c.text("userid")]
	if u == nil {
		return nil, fail("no such user ('%s')", c.text("userid"))
	}
	return tokenRows(u), nil
}

func (s *state) tokenOf(user, name string) (*permission.Token, error) {
	if u := s.acl.Users[user]; u == nil {
		return nil, fail("no such user ('%s')", user)
	} else if t := u.Tokens[name]; t != nil {
		return t, nil
	}
	return nil, fail("no such token '%s' for user '%s'", name, user)
}

func (c *call) readToken() (any, error) {
	t, err := c.s.tokenOf(c.text("userid"), c.text("tokenid"))
	if err != nil {
		return nil, err
	}
	return tokenInfo(t), nil
}

func (c *call) createToken() (any, error) {
	user, name := c.text("userid"), c.text("tokenid")
	u := c.s.acl.Users[user]
	if u == nil {
		return nil, fail("no such user ('%s')", user)
	}
	if u.Tokens[name] != nil {
		return nil, invalid("tokenid", "Token already exists.")
	}
	t := &permission.Token{Secret: uuid.NewString(), Privsep: c.flag("privsep", true), Expire: int64(c.number("expire", 0)), Comment: c.text("comment")}
	err := c.locked(userLock, "generating token failed", func() error {
		u.Tokens[name] = t
		c.s.acl.Changed()
		return nil
	})
	if err != nil {
		return nil, err
	}
	info := row{"privsep": 1}
	for _, p := range []string{"privsep", "expire", "comment"} {
		if c.has(p) {
			info[p] = scalar(c.params[p])
		}
	}
	return row{"full-tokenid": user + "!" + name, "value": t.Secret, "info": info}, nil
}

func (c *call) updateToken() (any, error) {
	t, err := c.s.tokenOf(c.text("userid"), c.text("tokenid"))
	if err != nil {
		return nil, err
	}
	t.Privsep = c.flag("privsep", t.Privsep)
	t.Expire = int64(c.number("expire", int(t.Expire)))
	if c.has("comment") {
		t.Comment = c.text("comment")
	}
	if slices.Contains(c.list("delete"), "comment") {
		t.Comment = ""
	}
	c.s.acl.Changed()
	data := tokenInfo(t)
	if c.flag("regenerate", false) {
		t.Secret = uuid.NewString()
		return row{"full-tokenid": c.text("userid") + "!" + c.text("tokenid"), "value": t.Secret, "info": data}, nil
	}
	return data, nil
}

func (c *call) deleteToken() (any, error) {
	user, name := c.text("userid"), c.text("tokenid")
	if _, err := c.s.tokenOf(user, name); err != nil {
		return nil, err
	}
	return nil, c.locked(userLock, "deleting token failed", func() error {
		delete(c.s.acl.Users[user].Tokens, name)
		c.s.acl.Forget(permission.KindToken, user+"!"+name)
		c.s.acl.Changed()
		return nil
	})
}
