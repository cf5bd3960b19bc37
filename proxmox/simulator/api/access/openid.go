package access

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/openid"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/schema"
)

// openIDEndpoints sign in by an OpenID Connect provider. Source: pve-access-control src/PVE/API2/OpenId.pm.
func openIDEndpoints() []*core.Endpoint {
	return []*core.Endpoint{
		core.On("GET /access/openid", core.Anyone, "", core.Index("auth-url login")),
		core.On("POST /access/openid/auth-url", core.Anyone, "realm* realm(..32); redirect-url* string(..255)", openIDAuthURL, core.World),
		core.On("POST /access/openid/login", core.Anyone, "state* string(..1024); code* string(..4096); redirect-url* string(..255)", openIDLogin, core.World),
	}
}

// openIDClient asks providers; it takes nothing from the environment but the system's certificate authorities.
var openIDClient = &http.Client{Timeout: 10 * time.Second}

// withoutLock runs f without the lock: it talks to somebody else.
func withoutLock(c *core.Call, f func()) {
	c.State.Mu.Unlock()
	defer c.State.Mu.Lock()
	f()
}

// discover asks the provider of a realm how it works.
func discover(c *core.Call, name string) (*core.Realm, *openid.Provider, error) {
	r := c.State.Realms[name]
	switch {
	case r == nil:
		return nil, nil, core.Fail("authentication domain '%s' does not exist", name)
	case r.Kind != "openid":
		return nil, nil, core.Fail("wrong realm type (%s != openid)", r.Kind)
	}
	var p *openid.Provider
	var err error
	withoutLock(c, func() { p, err = openid.Discover(c.Context, openIDClient, r.Options["issuer-url"]) })
	return r, p, err
}

func openIDAuthURL(c *core.Call) (any, error) {
	r, p, err := discover(c, c.Text("realm"))
	if err != nil {
		return nil, err
	}
	state, err := c.State.OpenID.Begin(r.Name, c.State.Now())
	if err != nil {
		return nil, err
	}
	return p.AuthURL(r.OpenID(), c.Text("redirect-url"), state), nil
}

func openIDLogin(c *core.Call) (any, error) {
	user, err := openIDUser(c)
	if err != nil {
		c.State.Log.Debug("sign-in by OpenID refused", "reason", err)
		return nil, core.AuthenticationFailure()
	}
	s := c.State
	data := core.Row{"username": user, "ticket": s.Tickets.Sign(user, ""), "CSRFPreventionToken": s.Tickets.SignCSRF(user), "cap": capabilities(s, user)}
	addClusterName(s, data, user)
	return data, nil
}

// openIDUser is the user that the provider vouches for.
func openIDUser(c *core.Call) (string, error) {
	state, err := c.State.OpenID.Take(c.Text("state"), c.State.Now())
	if err != nil {
		return "", err
	}
	r, p, err := discover(c, state.Realm)
	if err != nil {
		return "", err
	}
	config, now := r.OpenID(), c.State.Now()
	var claims map[string]any
	withoutLock(c, func() { claims, err = p.Claims(c.Context, config, c.Text("redirect-url"), c.Text("code"), state, now) })
	if err != nil {
		return "", err
	}
	name, err := userName(claims, core.Or(r.Options["username-claim"], "sub"))
	if err != nil {
		return "", err
	}
	user := name + "@" + r.Name
	if err := schema.CheckFormat("userid", "", user); err != nil {
		return "", err
	}
	if err := openIDAccount(c.State, r, user, claims); err != nil {
		return "", err
	}
	if claim := r.Options["groups-claim"]; claim != "" {
		openIDGroups(c.State, r, user, claims[claim])
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
func openIDAccount(s *core.State, r *core.Realm, user string, claims map[string]any) error {
	if s.ACL.Users[user] == nil && r.Options["autocreate"] == "1" {
		u := &permission.User{Enable: true, Tokens: map[string]*permission.Token{}}
		for claim, field := range map[string]*string{"email": &u.Email, "given_name": &u.FirstName, "family_name": &u.LastName} {
			*field, _ = claims[claim].(string)
		}
		s.ACL.Users[user] = u
		s.ACL.Changed()
		return nil
	}
	if !s.Active(user) {
		return errors.New("user is not there, disabled or expired")
	}
	return nil
}

var groupName = regexp.MustCompile(`\A[A-Za-z0-9._-]+\z`)

// openIDGroups puts the user into the groups of the claim, which bear the realm's name behind their own. Groups that do
// not exist are left out unless the realm makes them.
func openIDGroups(s *core.State, r *core.Realm, user string, claim any) {
	list, ok := claim.([]any)
	if !ok {
		return
	}
	var groups []string
	for _, g := range list {
		name, _ := g.(string)
		id := name + "-" + r.Name
		if groupName.MatchString(name) && !slices.Contains(groups, id) && (s.ACL.Groups[id] != nil || r.Options["groups-autocreate"] == "1") {
			groups = append(groups, id)
		}
	}
	if r.Options["groups-overwrite"] == "1" {
		for _, g := range s.ACL.Groups {
			delete(g.Users, user)
		}
	}
	for _, id := range groups {
		if s.ACL.Groups[id] == nil {
			s.ACL.Groups[id] = &permission.Group{Users: map[string]bool{}}
		}
		s.ACL.Groups[id].Users[user] = true
	}
	s.ACL.Changed()
	s.Log.Debug("groups by OpenID", "user", user, "groups", strings.Join(groups, ", "))
}
