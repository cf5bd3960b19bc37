package simulator

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/openid"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/schema"
)

// openIDEndpoints sign in by an OpenID Connect provider. Source: pve-access-control src/PVE/API2/OpenId.pm.
func openIDEndpoints() []*endpoint {
	return []*endpoint{
		on("GET /access/openid", anyone, "", index("auth-url login")),
		on("POST /access/openid/auth-url", anyone, "realm* realm(..32); redirect-url* string(..255)", (*call).openIDAuthURL, world),
		on("POST /access/openid/login", anyone, "state* string(..1024); code* string(..4096); redirect-url* string(..255)", (*call).openIDLogin, world),
	}
}

// openIDClient asks providers; it takes nothing from the environment but the system's certificate authorities.
var openIDClient = &http.Client{Timeout: 10 * time.Second}

// without runs f without the lock: it talks to somebody else.
func (c *call) without(f func()) {
	c.s.mu.Unlock()
	defer c.s.mu.Lock()
	f()
}

// discover asks the provider of a realm how it works.
func (c *call) discover(name string) (*realm, *openid.Provider, error) {
	r := c.s.realms[name]
	switch {
	case r == nil:
		return nil, nil, fail("authentication domain '%s' does not exist", name)
	case r.kind != "openid":
		return nil, nil, fail("wrong realm type (%s != openid)", r.kind)
	}
	var p *openid.Provider
	var err error
	c.without(func() { p, err = openid.Discover(c.ctx, openIDClient, r.options["issuer-url"]) })
	return r, p, err
}

func (c *call) openIDAuthURL() (any, error) {
	r, p, err := c.discover(c.text("realm"))
	if err != nil {
		return nil, err
	}
	state, err := c.s.openID.Begin(r.name, c.s.now())
	if err != nil {
		return nil, err
	}
	return p.AuthURL(r.openID(), c.text("redirect-url"), state), nil
}

func (c *call) openIDLogin() (any, error) {
	user, err := c.openIDUser()
	if err != nil {
		c.s.log.Debug("sign-in by OpenID refused", "reason", err)
		return nil, authenticationFailure()
	}
	s := c.s
	data := row{"username": user, "ticket": s.tickets.Sign(user, ""), "CSRFPreventionToken": s.tickets.SignCSRF(user), "cap": s.capabilities(user)}
	s.addClusterName(data, user)
	return data, nil
}

// openIDUser is the user that the provider vouches for.
func (c *call) openIDUser() (string, error) {
	state, err := c.s.openID.Take(c.text("state"), c.s.now())
	if err != nil {
		return "", err
	}
	r, p, err := c.discover(state.Realm)
	if err != nil {
		return "", err
	}
	config, now := r.openID(), c.s.now()
	var claims map[string]any
	c.without(func() { claims, err = p.Claims(c.ctx, config, c.text("redirect-url"), c.text("code"), state, now) })
	if err != nil {
		return "", err
	}
	name, err := userName(claims, or(r.options["username-claim"], "sub"))
	if err != nil {
		return "", err
	}
	user := name + "@" + r.name
	if err := schema.CheckFormat("userid", "", user); err != nil {
		return "", err
	}
	if err := c.s.openIDAccount(r, user, claims); err != nil {
		return "", err
	}
	if claim := r.options["groups-claim"]; claim != "" {
		c.s.openIDGroups(r, user, claims[claim])
	}
	return user, nil
}

// userName is the claim that the realm takes for the user's name; two old names of claims are still understood.
func userName(claims map[string]any, claim string) (string, error) {
	old := map[string]string{"subject": "sub", "username": "preferred_username"}
	for _, k := range []string{claim, old[claim]} {
		if v := claims[k]; v != nil {
			return fmt.Sprint(v), nil
		}
	}
	return "", fmt.Errorf("missing configured claim '%s' in returned info object", claim)
}

// openIDAccount finds the user, or makes it where the realm wants that.
func (s *state) openIDAccount(r *realm, user string, claims map[string]any) error {
	if s.acl.Users[user] == nil && r.options["autocreate"] == "1" {
		u := &permission.User{Enable: true, Tokens: map[string]*permission.Token{}}
		for claim, field := range map[string]*string{"email": &u.Email, "given_name": &u.FirstName, "family_name": &u.LastName} {
			*field, _ = claims[claim].(string)
		}
		s.acl.Users[user] = u
		s.acl.Changed()
		return nil
	}
	if !s.active(user) {
		return errors.New("user is not there, disabled or expired")
	}
	return nil
}

var groupName = regexp.MustCompile(`\A[A-Za-z0-9._-]+\z`)

// openIDGroups puts the user into the groups of the claim, which bear the realm's name behind their own. Groups that do
// not exist are left out unless the realm makes them.
func (s *state) openIDGroups(r *realm, user string, claim any) {
	list, ok := claim.([]any)
	if !ok {
		return
	}
	var groups []string
	for _, g := range list {
		name, _ := g.(string)
		id := name + "-" + r.name
		if groupName.MatchString(name) && !slices.Contains(groups, id) && (s.acl.Groups[id] != nil || r.options["groups-autocreate"] == "1") {
			groups = append(groups, id)
		}
	}
	if r.options["groups-overwrite"] == "1" {
		for _, g := range s.acl.Groups {
			delete(g.Users, user)
		}
	}
	for _, id := range groups {
		if s.acl.Groups[id] == nil {
			s.acl.Groups[id] = &permission.Group{Users: map[string]bool{}}
		}
		s.acl.Groups[id].Users[user] = true
	}
	s.acl.Changed()
	s.log.Debug("groups by OpenID", "user", user, "groups", strings.Join(groups, ", "))
}
