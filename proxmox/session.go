package proxmox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// TicketLife is how long a ticket is good for. pve-access-control PVE/AccessControl.pm, $ticket_lifetime.
const TicketLife = 2 * time.Hour

// Session is a person who signed in: a client that acts as them, whose ticket can be renewed. Proxmox VE renews a ticket without asking the realm or
// the second factor again, as long as the user is enabled.
type Session struct {
	*Client
	user   string
	ticket *renewable
}

// User is the person's whole name, user@realm, as Proxmox VE writes it.
func (s *Session) User() string { return s.user }

// OpenSession signs in as SignIn does, to stay longer than one ticket lasts.
func OpenSession(ctx context.Context, o Options, who Credentials) (*Session, error) {
	client, err := connectAs(stranger(who.Password), o)
	if err != nil {
		return nil, err
	}
	got, err := client.ticket(ctx, map[string]any{"username": who.User, "password": who.Password})
	if err == nil && bool(got.NeedTFA) {
		got, err = client.secondFactor(ctx, o, who, got)
	}
	if err != nil {
		return nil, fmt.Errorf("sign in as %s: %w", who.User, err)
	}
	return sessionOf(o, got, who.User)
}

func sessionOf(o Options, got ticketRow, asked string) (*Session, error) {
	if got.User == "" {
		got.User = asked
	}
	held := &renewable{}
	held.set(got)
	client, err := connectAs(held, o)
	if err != nil {
		return nil, err
	}
	return &Session{Client: client, user: got.User, ticket: held}, nil
}

// Renew exchanges the ticket for a fresh one. Unauthorized when the old one has run out, or the user was disabled or has expired.
func (s *Session) Renew(ctx context.Context) error {
	got, err := s.Client.ticket(ctx, map[string]any{"username": s.user, "password": s.ticket.get().ticket})
	if err == nil && bool(got.NeedTFA) {
		err = &Error{Kind: Unauthorized, Method: "POST", Path: "/access/ticket", Status: 200, Reason: "a second factor is wanted again"}
	}
	if err != nil {
		return fmt.Errorf("renew the ticket of %s: %w", s.user, err)
	}
	s.ticket.set(got)
	return nil
}

// renewable is a ticket that is exchanged while calls go on.
type renewable struct {
	mu  sync.Mutex
	now session
}

func (r *renewable) get() session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *renewable) set(got ticketRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = session{ticket: got.Ticket, csrf: got.CSRF}
}

func (r *renewable) sign(req *http.Request) (string, error) { return r.get().sign(req) }

// Realm is a place where users are known.
type Realm struct {
	// Name is what follows the @ in a user's name.
	Name string
	// Type is pam, pve, ldap, ad or openid.
	Type string
	// Comment is the text people see for it; may be empty.
	Comment string
	// Default is true for the realm that is offered first.
	Default bool
}

// Realms are all realms, in Proxmox VE's order. Nobody needs to be signed in for it; of o, TokenID, TokenFile and Secret are not used.
func Realms(ctx context.Context, o Options) ([]Realm, error) {
	client, err := connectAs(stranger(""), o)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		Realm   string `json:"realm"`
		Type    string `json:"type"`
		Comment string `json:"comment"`
		Default flag   `json:"default"`
	}
	if err := client.get(ctx, "/access/domains", &rows); err != nil {
		return nil, fmt.Errorf("list realms: %w", err)
	}
	realms := make([]Realm, 0, len(rows))
	for _, r := range rows {
		realms = append(realms, Realm{Name: r.Realm, Type: r.Type, Comment: r.Comment, Default: bool(r.Default)})
	}
	return realms, nil
}

// AllPermissions are the caller's own effective privileges, sorted, by path: on the top paths, on each path that has an ACL entry, and on each pool
// with its members. A path of these on which the caller has none is left out (pve-access-control PVE/RPCEnvironment.pm, get_effective_permissions).
// Paths with the same privileges, as a thousand pools below one, share one list, which must not be changed.
func (c *Client) AllPermissions(ctx context.Context) (map[string][]string, error) {
	var answer map[string]json.RawMessage
	if err := c.get(ctx, "/access/permissions", &answer); err != nil {
		return nil, fmt.Errorf("read privileges: %w", err)
	}
	all, alike := make(map[string][]string, len(answer)), map[string][]string{}
	for path, text := range answer {
		var on map[string]flag
		if err := json.Unmarshal(text, &on); err != nil {
			return nil, fmt.Errorf("read privileges on %s: %w", path, err)
		}
		held := slices.Sorted(maps.Keys(on))
		words := strings.Join(held, " ")
		if _, known := alike[words]; !known {
			alike[words] = held
		}
		all[path] = alike[words]
	}
	return all, nil
}

// Zones are the SDN zones of all VNets that the caller may see, by VNet.
func (c *Client) Zones(ctx context.Context) (map[string]string, error) {
	var rows []struct {
		VNet string `json:"vnet"`
		Zone string `json:"zone"`
	}
	if err := c.get(ctx, "/cluster/sdn/vnets", &rows); err != nil {
		return nil, fmt.Errorf("list VNets: %w", err)
	}
	zones := make(map[string]string, len(rows))
	for _, r := range rows {
		zones[r.VNet] = r.Zone
	}
	return zones, nil
}

// PermissionsOn are the caller's own effective privileges on one path, sorted; none is no error.
func (c *Client) PermissionsOn(ctx context.Context, path string) ([]string, error) {
	return c.Accounts().Permissions(ctx, path)
}
