package proxmox

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// GranteeKind is what a role is given to.
type GranteeKind string

// The kinds of grantees.
const (
	GrantUser  GranteeKind = "user"
	GrantGroup GranteeKind = "group"
	GrantToken GranteeKind = "token"
)

// Grant is an ACL entry: a role on a path for a user, a group or a token.
type Grant struct {
	// Path is where, such as /pool/kubehenge.
	Path string
	// Role is the role's name.
	Role string
	// Kind says what To names.
	Kind GranteeKind
	// To is user@realm, a group's name, or user@realm!token.
	To string
	// Propagate is true where the role counts below the path too.
	Propagate bool
}

// String is the entry as a person would say it.
func (g Grant) String() string {
	below := ""
	if !g.Propagate {
		below = ", not below it"
	}
	return fmt.Sprintf("role %s on %s%s for %s %s", g.Role, g.Path, below, g.Kind, g.To)
}

// Role is a named set of privileges.
type Role struct {
	// Name is its name; PVE is the prefix of Proxmox VE's own.
	Name string
	// Privileges are sorted when read.
	Privileges []string
	// Builtin is true for Proxmox VE's own roles, which cannot be changed; only read.
	Builtin bool
}

func (a accounts) Grants(ctx context.Context) ([]Grant, error) {
	var rows []struct {
		Path      string      `json:"path"`
		Role      string      `json:"roleid"`
		Kind      GranteeKind `json:"type"`
		To        string      `json:"ugid"`
		Propagate *flag       `json:"propagate"` // absent means yes
	}
	if err := a.client.get(ctx, "/access/acl", &rows); err != nil {
		return nil, fmt.Errorf("list ACL entries: %w", err)
	}
	grants := make([]Grant, 0, len(rows))
	for _, r := range rows {
		grants = append(grants, Grant{Path: r.Path, Role: r.Role, Kind: r.Kind, To: r.To, Propagate: r.Propagate == nil || bool(*r.Propagate)})
	}
	return grants, nil
}

func (g Grant) params() map[string]any {
	return map[string]any{"path": g.Path, "roles": g.Role, string(g.Kind) + "s": g.To}
}

func (a accounts) AddGrant(ctx context.Context, g Grant) error {
	params := g.params()
	params["propagate"] = bit(g.Propagate)
	if err := a.client.put(ctx, "/access/acl", params); err != nil {
		return fmt.Errorf("give %s: %w", g, err)
	}
	return nil
}

func (a accounts) RemoveGrant(ctx context.Context, g Grant) error {
	params := g.params()
	params["delete"] = 1
	if err := a.client.put(ctx, "/access/acl", params); err != nil {
		return fmt.Errorf("take away %s: %w", g, err)
	}
	return nil
}

func (a accounts) Roles(ctx context.Context) ([]Role, error) {
	var rows []struct {
		Name       string `json:"roleid"`
		Privileges string `json:"privs"`
		Builtin    flag   `json:"special"`
	}
	if err := a.client.get(ctx, "/access/roles", &rows); err != nil {
		return nil, fmt.Errorf("list roles: %w", err)
	}
	roles := make([]Role, 0, len(rows))
	for _, r := range rows {
		privileges := splitList(r.Privileges)
		slices.Sort(privileges)
		roles = append(roles, Role{Name: r.Name, Privileges: privileges, Builtin: bool(r.Builtin)})
	}
	return roles, nil
}

func (a accounts) CreateRole(ctx context.Context, r Role) error {
	params := map[string]any{"roleid": r.Name, "privs": strings.Join(r.Privileges, ",")}
	if err := a.client.post(ctx, "/access/roles", params, nil); err != nil {
		return fmt.Errorf("create role %s: %w", r.Name, err)
	}
	return nil
}

func (a accounts) SetRole(ctx context.Context, r Role) error {
	if err := a.client.put(ctx, rolePath(r.Name), map[string]any{"privs": strings.Join(r.Privileges, ",")}); err != nil {
		return fmt.Errorf("change role %s: %w", r.Name, err)
	}
	return nil
}

func (a accounts) DeleteRole(ctx context.Context, name string) error {
	if err := a.client.delete(ctx, rolePath(name)); err != nil {
		return fmt.Errorf("delete role %s: %w", name, err)
	}
	return nil
}

func (a accounts) Permissions(ctx context.Context, path string) ([]string, error) {
	var answer map[string]map[string]flag
	if err := a.client.get(ctx, "/access/permissions"+query("path", path), &answer); err != nil {
		return nil, fmt.Errorf("read privileges on %s: %w", path, err)
	}
	privileges := map[string]bool{}
	for _, on := range answer {
		for p := range on {
			privileges[p] = true
		}
	}
	return slices.Sorted(maps.Keys(privileges)), nil
}

// Privileges are all that the caller itself may do, by path: on every path that has an ACL entry or is in a pool and
// where it may do anything. Privileges are sorted.
func (c *Client) Privileges(ctx context.Context) (map[string][]string, error) {
	var answer map[string]map[string]flag
	if err := c.get(ctx, "/access/permissions", &answer); err != nil {
		return nil, fmt.Errorf("read all privileges: %w", err)
	}
	all := make(map[string][]string, len(answer))
	for path, privileges := range answer {
		all[path] = slices.Sorted(maps.Keys(privileges))
	}
	return all, nil
}

func rolePath(name string) string { return "/access/roles/" + url.PathEscape(name) }
