package permission

import (
	"regexp"
	"slices"
	"strings"
)

// Subject kinds of an ACL entry.
const (
	KindUser  = "user"
	KindGroup = "group"
	KindToken = "token"
)

// Row is one ACL entry as it is listed.
type Row struct {
	Path, Kind, ID, Role string
	Propagate            bool
}

func (e *Entry) of(kind string) *map[string]Roles {
	switch kind {
	case KindUser:
		return &e.Users
	case KindGroup:
		return &e.Groups
	}
	return &e.Tokens
}

// Grant adds a role for a subject on a path, or changes its propagate flag.
func (c *Config) Grant(path, kind, id, role string, propagate bool) {
	e := c.ACL[path]
	if e == nil {
		e = &Entry{}
		c.ACL[path] = e
	}
	m := e.of(kind)
	if *m == nil {
		*m = map[string]Roles{}
	}
	if (*m)[id] == nil {
		(*m)[id] = Roles{}
	}
	(*m)[id][role] = propagate
	c.Changed()
}

// Revoke takes a role of a subject on a path away; nothing happens if it is not there.
func (c *Config) Revoke(path, kind, id, role string) {
	e := c.ACL[path]
	if e == nil {
		return
	}
	m := *e.of(kind)
	delete(m[id], role)
	if len(m[id]) == 0 {
		delete(m, id)
	}
	c.prune(path)
}

func (c *Config) prune(path string) {
	if e := c.ACL[path]; e != nil && len(e.Users)+len(e.Groups)+len(e.Tokens) == 0 {
		delete(c.ACL, path)
	}
	c.Changed()
}

// Forget takes all entries of a subject away.
func (c *Config) Forget(kind, id string) {
	for path, e := range c.ACL {
		delete(*e.of(kind), id)
		c.prune(path)
	}
}

// ForgetRole takes a role out of all entries.
func (c *Config) ForgetRole(role string) {
	for _, r := range c.Rows() {
		if r.Role == role {
			c.Revoke(r.Path, r.Kind, r.ID, role)
		}
	}
}

// Rows lists all entries by path, kind, subject and role.
func (c *Config) Rows() []Row {
	var rows []Row
	for path, e := range c.ACL {
		for _, kind := range []string{KindGroup, KindToken, KindUser} {
			for id, roles := range *e.of(kind) {
				for role, propagate := range roles {
					rows = append(rows, Row{path, kind, id, role, propagate})
				}
			}
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return strings.Compare(a.Path+"\x00"+a.Kind+"\x00"+a.ID+"\x00"+a.Role, b.Path+"\x00"+b.Kind+"\x00"+b.ID+"\x00"+b.Role)
	})
	return rows
}

var pathCharacters = regexp.MustCompile(`\A[a-zA-Z0-9./_-]*\z`)

// NormalizePath brings a path into the form in which entries are kept: one slash at the front, none at the end, none
// doubled. It reports whether the path is well-formed.
func NormalizePath(path string) (string, bool) {
	if !pathCharacters.MatchString(path) || path == "" {
		return "", false
	}
	var segments []string
	for _, s := range strings.Split(path, "/") {
		if s != "" {
			segments = append(segments, s)
		}
	}
	return "/" + strings.Join(segments, "/"), true
}

// validPath lists the paths on which entries may be made.
var validPath = regexp.MustCompile(`\A(?:/` +
	`|/access(?:/groups(?:/[[:alnum:]._-]+)?|/realm(?:/[[:alnum:]._-]+)?)?` +
	`|/nodes(?:/[[:alnum:].-]+)?` +
	`|/pool(?:/[[:alnum:]._-]+){0,3}` +
	`|/sdn(?:/(?:controllers|dns|fabrics|ipams|prefix-lists|route-maps)(?:/[[:alnum:]._-]+)?)?` +
	`|/sdn/zones(?:/[[:alnum:]._-]+(?:/[[:alnum:]._-]+(?:/[1-9][0-9]{0,3})?)?)?` +
	`|/storage(?:/[[:alnum:]._-]+)?` +
	`|/vms(?:/[1-9][0-9]{2,})?` +
	`|/mapping(?:/[[:alnum:].-]+(?:/[[:alnum:]._-]+)?)?` +
	`)\z`)

// ValidPath tells whether an entry may be made on a normalised path.
func ValidPath(path string) bool { return validPath.MatchString(path) }
