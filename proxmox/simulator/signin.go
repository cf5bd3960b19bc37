package simulator

import (
	"crypto/hmac"
	"net/http"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/wire"
)

// refusals of the sign-in have no body.
func refuse(reason string) *wire.Response { return &wire.Response{Status: 401, Reason: reason} }

// signIn finds out who calls. It returns the answer if the call ends here.
func (s *Server) signIn(c *core.Call, r *http.Request, end *core.Endpoint) *wire.Response {
	carrier, value := credentials(r)
	if end != nil && end.World {
		return nil
	}
	switch carrier {
	case "":
		return refuse("No ticket")
	case "token":
		if !s.signInToken(c, value) {
			return refuse("Authentication failed!")
		}
		return nil
	}
	user, ok := s.state.Tickets.Verify(value, "")
	if !ok || !s.state.Active(user) {
		return refuse("Authentication failed!")
	}
	c.User = user
	if c.Method != http.MethodGet && (end == nil || !end.Upload) && !s.state.Tickets.VerifyCSRF(user, r.Header.Get("CSRFPreventionToken")) {
		c.User = ""
		return refuse("Permission denied - invalid csrf token")
	}
	return nil
}

// credentials returns the carrier ("ticket", "token" or none) and its value: the cookie counts before the header.
func credentials(r *http.Request) (carrier, value string) {
	for _, part := range strings.Split(r.Header.Get("Cookie"), ";") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "PVEAuthCookie="); ok {
			return "ticket", core.Unescape(v)
		}
	}
	header := r.Header.Get("Authorization")
	if v, ok := strings.CutPrefix(header, "PVEAuthCookie="); ok {
		return "ticket", core.Unescape(v)
	}
	for _, prefix := range []string{"PVEAPIToken=", "PVEAPIToken "} {
		if v, ok := strings.CutPrefix(header, prefix); ok {
			return "token", core.Unescape(v)
		}
	}
	return "", ""
}

// signInToken verifies user@realm!id=secret.
func (s *Server) signInToken(c *core.Call, value string) bool {
	id, secret, _ := strings.Cut(value, "=")
	user, name := permission.SplitToken(id)
	if name == "" || !s.state.Active(user) {
		return false
	}
	t := s.state.ACL.Users[user].Tokens[name]
	if t == nil || !hmac.Equal([]byte(t.Secret), []byte(secret)) || t.Expire != 0 && t.Expire <= s.state.Unix() {
		return false
	}
	c.User, c.Token = user, name
	return true
}

// allowedToken refuses API tokens where only a ticket will do.
func allowedToken(c *core.Call, r *http.Request) error {
	carrier, _ := credentials(r)
	if c.Endpoint.NoToken && carrier == "token" {
		return core.Denied("URI '" + c.Path + "' not available with API token, need proper ticket.\n")
	}
	return nil
}
