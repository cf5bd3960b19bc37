package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Accounts are users with their tokens, groups, roles, and who has which role where.
type Accounts interface {
	// Users are all users that the caller may see (User.Modify or Sys.Audit on a group of theirs), tokens included, in
	// one call.
	Users(ctx context.Context) ([]User, error)
	// CreateUser makes a user without a password, so that only its tokens can sign in; Exists when it is there. Its
	// tokens are not made.
	CreateUser(ctx context.Context, u User) error
	// SetUser replaces comment, groups, expiry and whether it is enabled.
	SetUser(ctx context.Context, u User) error
	// DeleteUser removes a user with its tokens and all its ACL entries; NotFound when it is gone.
	DeleteUser(ctx context.Context, id string) error
	// CreateToken makes a token of a user; Exists when it is there. Proxmox VE tells the secret this once.
	CreateToken(ctx context.Context, user string, t Token) (secret string, err error)
	// DeleteToken removes a token with its ACL entries; NotFound when it is gone.
	DeleteToken(ctx context.Context, user, name string) error
	// Grants are the ACL entries on paths where the caller may change some; all with Sys.Audit on /access.
	Grants(ctx context.Context) ([]Grant, error)
	// AddGrant gives a role; repeating it is no error. Without Permissions.Modify on the path the caller must hold
	// every privilege of the role there itself (Forbidden or Invalid).
	AddGrant(ctx context.Context, g Grant) error
	// RemoveGrant takes a role away; taking one that is not there is no error.
	RemoveGrant(ctx context.Context, g Grant) error
	// Groups are the names of all groups that the caller may see.
	Groups(ctx context.Context) ([]string, error)
	// CreateGroup makes a group; Exists when it is there.
	CreateGroup(ctx context.Context, id, comment string) error
	// DeleteGroup removes a group with its ACL entries; NotFound when it is gone.
	DeleteGroup(ctx context.Context, id string) error
	// Roles are all roles, for anybody to see.
	Roles(ctx context.Context) ([]Role, error)
	// CreateRole makes a role; Exists when it is there.
	CreateRole(ctx context.Context, r Role) error
	// SetRole replaces a role's privileges.
	SetRole(ctx context.Context, r Role) error
	// DeleteRole removes a role and all ACL entries with it; NotFound when it is gone.
	DeleteRole(ctx context.Context, name string) error
	// Permissions are the privileges that the caller itself has on a path, sorted; none is no error.
	Permissions(ctx context.Context, path string) ([]string, error)
}

// User is a user of Proxmox VE.
type User struct {
	// ID is name@realm.
	ID string
	// Enabled is false for a user that, with all its tokens, may not sign in.
	Enabled bool
	// Expire is when it ends; the zero time is never.
	Expire time.Time
	// Comment is the text people see beside it.
	Comment string
	// Groups are the groups it is in.
	Groups []string
	// Tokens are its API tokens; only read.
	Tokens []Token
}

// Token is an API token of a user.
type Token struct {
	// Name is what follows the user's name and an exclamation mark.
	Name string
	// Comment is the text people see beside it.
	Comment string
	// Separated is true for a token with privilege separation: it may do only what its own ACL entries allow, and of
	// that only what its user may too.
	Separated bool
	// Expire is when it ends; the zero time is never.
	Expire time.Time
}

// TokenID is the whole name of a user's token, user@realm!name.
func TokenID(user, name string) string { return user + "!" + name }

// Accounts are users, groups, roles and grants.
func (c *Client) Accounts() Accounts { return accounts{c} }

type accounts struct{ client *Client }

type tokenRow struct {
	ID        string `json:"tokenid"`
	Comment   string `json:"comment"`
	Separated *flag  `json:"privsep"` // absent means yes
	Expire    whole  `json:"expire"`
}

func (r tokenRow) token() Token {
	return Token{Name: r.ID, Comment: r.Comment, Separated: r.Separated == nil || bool(*r.Separated), Expire: moment(r.Expire)}
}

func (a accounts) Users(ctx context.Context) ([]User, error) {
	var rows []struct {
		ID      string     `json:"userid"`
		Enable  *flag      `json:"enable"` // absent means yes
		Expire  whole      `json:"expire"`
		Comment string     `json:"comment"`
		Groups  string     `json:"groups"`
		Tokens  []tokenRow `json:"tokens"`
	}
	if err := a.client.get(ctx, "/access/users"+query("full", "1"), &rows); err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	users := make([]User, 0, len(rows))
	for _, r := range rows {
		u := User{ID: r.ID, Enabled: r.Enable == nil || bool(*r.Enable), Expire: moment(r.Expire), Comment: r.Comment, Groups: splitList(r.Groups)}
		for _, t := range r.Tokens {
			u.Tokens = append(u.Tokens, t.token())
		}
		users = append(users, u)
	}
	return users, nil
}

func (u User) params() map[string]any {
	return map[string]any{"comment": u.Comment, "enable": bit(u.Enabled), "expire": seconds(u.Expire), "groups": strings.Join(u.Groups, ",")}
}

func (a accounts) CreateUser(ctx context.Context, u User) error {
	params := u.params()
	params["userid"] = u.ID
	if len(u.Groups) == 0 {
		delete(params, "groups")
	}
	if err := a.client.post(ctx, "/access/users", params, nil); err != nil {
		return fmt.Errorf("create user %s: %w", u.ID, err)
	}
	return nil
}

// SetUser always names the groups: without them Proxmox VE takes no change from somebody who may change only the
// users of a group (pve-access-control PVE/RPCEnvironment.pm, userid-group).
func (a accounts) SetUser(ctx context.Context, u User) error {
	if err := a.client.put(ctx, userPath(u.ID), u.params()); err != nil {
		return fmt.Errorf("change user %s: %w", u.ID, err)
	}
	return nil
}

func (a accounts) DeleteUser(ctx context.Context, id string) error {
	if err := a.client.delete(ctx, userPath(id)); err != nil {
		return fmt.Errorf("delete user %s: %w", id, err)
	}
	return nil
}

func (a accounts) CreateToken(ctx context.Context, user string, t Token) (string, error) {
	var made struct {
		Value string `json:"value"`
	}
	params := map[string]any{"privsep": bit(t.Separated), "expire": seconds(t.Expire), "comment": t.Comment}
	path := tokenPath(user, t.Name)
	if err := a.client.post(ctx, path, params, &made); err != nil {
		return "", fmt.Errorf("create token %s: %w", TokenID(user, t.Name), err)
	}
	if !secretForm.MatchString(made.Value) {
		return "", fmt.Errorf("create token %s: %w", TokenID(user, t.Name), &Error{Kind: Unreadable, Method: "POST", Path: path, Status: 200, Reason: "no secret"})
	}
	return made.Value, nil
}

func (a accounts) DeleteToken(ctx context.Context, user, name string) error {
	if err := a.client.delete(ctx, tokenPath(user, name)); err != nil {
		return fmt.Errorf("delete token %s: %w", TokenID(user, name), err)
	}
	return nil
}

func (a accounts) Groups(ctx context.Context) ([]string, error) {
	var rows []struct {
		ID string `json:"groupid"`
	}
	if err := a.client.get(ctx, "/access/groups", &rows); err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	names := make([]string, 0, len(rows))
	for _, r := range rows {
		names = append(names, r.ID)
	}
	slices.Sort(names)
	return names, nil
}

func (a accounts) CreateGroup(ctx context.Context, id, comment string) error {
	if err := a.client.post(ctx, "/access/groups", map[string]any{"groupid": id, "comment": comment}, nil); err != nil {
		return fmt.Errorf("create group %s: %w", id, err)
	}
	return nil
}

func (a accounts) DeleteGroup(ctx context.Context, id string) error {
	if err := a.client.delete(ctx, "/access/groups/"+url.PathEscape(id)); err != nil {
		return fmt.Errorf("delete group %s: %w", id, err)
	}
	return nil
}

func userPath(id string) string { return "/access/users/" + url.PathEscape(id) }

func tokenPath(user, name string) string { return userPath(user) + "/token/" + url.PathEscape(name) }
