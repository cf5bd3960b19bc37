// Package permission answers what a user or an API token of Proxmox VE may do on a path: users, groups, roles, tokens,
// pools and the ACL tree, and the rules by which they add up.
//
// Source of the rules: pve-access-control src/PVE/AccessControl.pm and RPCEnvironment.pm, 9.1.1.
package permission

import (
	"slices"
	"strings"
)

// Superuser may do everything everywhere; ACL entries do not concern it.
const Superuser = "root@pam"

// NoAccess is the role that blocks: where it is in force no other role counts.
const NoAccess = "NoAccess"

// User is a user; tokens belong to it.
type User struct {
	Enable                              bool
	Expire                              int64 // seconds since 1970, 0: never
	Password                            string
	FirstName, LastName, Email, Comment string
	HasEmail                            bool // the entry has the field, maybe empty
	Keys                                string
	Tokens                              map[string]*Token
}

// Token is an API token.
type Token struct {
	Secret  string
	Privsep bool // it has only what its own ACL entries give, and no more than its user
	Expire  int64
	Comment string
}

// Group is a set of users.
type Group struct {
	Comment string
	Users   map[string]bool
}

// Pool is a resource pool.
type Pool struct {
	Comment  string
	VMs      map[int]bool
	Storages map[string]bool
}

// Roles of one subject on one path, with their propagate flag.
type Roles map[string]bool

// Entry is what the ACL tree holds at one path.
type Entry struct {
	Users, Groups, Tokens map[string]Roles // by ID
}

// Config is all of it. Call Changed after changing something.
type Config struct {
	Users  map[string]*User
	Groups map[string]*Group
	Roles  map[string]map[string]bool // role -> privileges
	Pools  map[string]*Pool
	ACL    map[string]*Entry // normalised path -> entry

	all      map[string]bool // what the superuser may
	memo     map[memoKey]map[string]bool
	poolOfVM map[int]string
	poolsOf  map[string][]string // storage -> pools
}

type memoKey struct{ subject, path string }

// New returns an empty configuration that knows the superuser.
func New() *Config {
	return &Config{
		Users:  map[string]*User{Superuser: {Enable: true, Tokens: map[string]*Token{}}},
		Groups: map[string]*Group{},
		Roles:  map[string]map[string]bool{},
		Pools:  map[string]*Pool{},
		ACL:    map[string]*Entry{},
	}
}

// Changed forgets what was computed before.
func (c *Config) Changed() {
	c.all, c.memo, c.poolOfVM, c.poolsOf = nil, nil, nil, nil
}

// SplitToken cuts user@realm!token into user and token name; token is empty for a user.
func SplitToken(subject string) (user, token string) {
	user, token, _ = strings.Cut(subject, "!")
	return user, token
}

// Privileges returns what subject (user@realm or user@realm!token) may do on path, each with its propagate flag. The
// map must not be changed.
func (c *Config) Privileges(subject, path string) map[string]bool {
	if subject == Superuser {
		return c.everything()
	}
	key := memoKey{subject, path}
	if p, ok := c.memo[key]; ok {
		return p
	}
	if c.memo == nil || len(c.memo) > 1<<17 {
		c.memo = map[memoKey]map[string]bool{}
	}
	p := c.privileges(subject, path)
	c.memo[key] = p
	return p
}

func (c *Config) privileges(subject, path string) map[string]bool {
	user, token := SplitToken(subject)
	if token == "" {
		return c.union(c.roles(subject, path))
	}
	t := c.token(user, token)
	if t == nil {
		return nil
	}
	owner := c.Privileges(user, path)
	if !t.Privsep {
		return owner
	}
	both := map[string]bool{}
	for p, propagate := range c.union(c.roles(subject, path)) {
		if flag, has := owner[p]; has {
			both[p] = flag && propagate
		}
	}
	return both
}

func (c *Config) token(user, token string) *Token {
	u := c.Users[user]
	if u == nil {
		return nil
	}
	return u.Tokens[token]
}

func (c *Config) everything() map[string]bool {
	if c.all == nil {
		c.all = map[string]bool{}
		for p := range c.Roles["Administrator"] {
			c.all[p] = true
		}
	}
	return c.all
}

func (c *Config) union(roles Roles) map[string]bool {
	privileges := map[string]bool{}
	for role, propagate := range roles {
		for p := range c.Roles[role] {
			privileges[p] = privileges[p] || propagate
		}
	}
	return privileges
}

// roles adds to the roles on the path itself those that a pool gives to its direct members, on exactly their paths.
func (c *Config) roles(subject, path string) Roles {
	own := c.walk(subject, path)
	if blocked(own) {
		return own
	}
	all := Roles{}
	for role, propagate := range own {
		all[role] = propagate
	}
	for _, pool := range c.poolsAt(path) {
		given := c.walk(subject, "/pool/"+pool)
		if blocked(given) {
			return given
		}
		for role := range given {
			all[role] = all[role]
		}
	}
	return all
}

func blocked(r Roles) bool {
	_, no := r[NoAccess]
	return no
}

// walk is the rule without pools: the deepest entry that applies replaces what shallower ones gave.
func (c *Config) walk(subject, path string) Roles {
	var roles Roles
	for at := "/"; ; {
		last := at == path
		if e := c.ACL[at]; e != nil {
			if found := c.applicable(e, subject, last); len(found) > 0 {
				roles = found
			}
		}
		if last {
			break
		}
		at = deeper(at, path)
	}
	if blocked(roles) {
		return Roles{NoAccess: roles[NoAccess]}
	}
	return roles
}

// deeper returns the path one segment further towards path.
func deeper(at, path string) string {
	from := len(at) + 1
	if at == "/" {
		from = 1
	}
	if i := strings.IndexByte(path[from:], '/'); i >= 0 {
		return path[:from+i]
	}
	return path
}

// applicable asks the entries for the token, then for the user, then for the user's groups; the first kind that has
// any counts alone. Entries that do not propagate count on the last path only.
func (c *Config) applicable(e *Entry, subject string, last bool) Roles {
	user, token := SplitToken(subject)
	if token != "" {
		return pick(e.Tokens[subject], last, nil)
	}
	if found := pick(e.Users[user], last, nil); len(found) > 0 {
		return found
	}
	var united Roles
	for id, roles := range e.Groups {
		if g := c.Groups[id]; g != nil && g.Users[user] {
			united = pick(roles, last, united)
		}
	}
	return united
}

func pick(roles Roles, last bool, into Roles) Roles {
	for role, propagate := range roles {
		if !last && !propagate {
			continue
		}
		if into == nil {
			into = Roles{}
		}
		into[role] = into[role] || propagate
	}
	return into
}

// Has tells whether subject holds privilege on path.
func (c *Config) Has(subject, path, privilege string) bool {
	_, has := c.Privileges(subject, path)[privilege]
	return has
}

// HasAny tells whether subject holds one of the privileges on path.
func (c *Config) HasAny(subject, path string, privileges ...string) bool {
	return slices.ContainsFunc(privileges, func(p string) bool { return c.Has(subject, path, p) })
}
