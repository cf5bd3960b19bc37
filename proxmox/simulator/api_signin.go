package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/wire"
)

// Tickets and CSRF tokens are valid from 300 seconds before to 7200 seconds after they were made.
// Source: pve-common src/PVE/Ticket.pm.
const (
	ticketMinAge = -300
	ticketMaxAge = 7200
)

func (s *Server) mac(parts ...string) string {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(strings.Join(parts, "\x00")))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// newTicket signs data (a user name, or a challenge) with the present time.
func (s *Server) newTicket(data, secret string) string {
	plain := fmt.Sprintf("PVE:%s:%08X", strings.ReplaceAll(data, ":", "%3A"), s.unix())
	return plain + "::" + s.mac("ticket", plain, secret)
}

// verifyTicket returns what a valid ticket says.
func (s *Server) verifyTicket(ticket, secret string) (data string, ok bool) {
	plain, signature, found := strings.Cut(ticket, "::")
	if !found || !hmac.Equal([]byte(signature), []byte(s.mac("ticket", plain, secret))) {
		return "", false
	}
	parts := strings.Split(plain, ":")
	if len(parts) != 3 || parts[0] != "PVE" || !s.fresh(parts[2]) {
		return "", false
	}
	return strings.ReplaceAll(parts[1], "%3A", ":"), true
}

func (s *Server) fresh(stamp string) bool {
	made, err := strconv.ParseInt(stamp, 16, 64)
	age := s.unix() - made
	return err == nil && age > ticketMinAge && age < ticketMaxAge
}

func (s *Server) newCSRF(user string) string {
	stamp := fmt.Sprintf("%08X", s.unix())
	return stamp + ":" + s.mac("csrf", stamp, user)
}

func (s *Server) verifyCSRF(user, token string) bool {
	stamp, signature, found := strings.Cut(token, ":")
	return found && hmac.Equal([]byte(signature), []byte(s.mac("csrf", stamp, user))) && s.fresh(stamp)
}

// active tells whether a user is there, enabled and not expired.
func (s *Server) active(user string) bool {
	u := s.acl.Users[user]
	return u != nil && u.Enable && (u.Expire == 0 || u.Expire > s.unix())
}

// refusals of the sign-in have no body.
func refuse(reason string) *wire.Response { return &wire.Response{Status: 401, Reason: reason} }

// signIn finds out who calls. It returns the answer if the call ends here.
func (s *Server) signIn(c *call, r *http.Request, end *endpoint) *wire.Response {
	carrier, value := credentials(r)
	if end != nil && end.world {
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
	user, ok := s.verifyTicket(value, "")
	if !ok || !s.active(user) {
		return refuse("Authentication failed!")
	}
	c.user = user
	if c.method != http.MethodGet && (end == nil || !end.upload) && !s.verifyCSRF(user, r.Header.Get("CSRFPreventionToken")) {
		c.user = ""
		return refuse("Permission denied - invalid csrf token")
	}
	return nil
}

// credentials returns the carrier ("ticket", "token" or none) and its value: the cookie counts before the header.
func credentials(r *http.Request) (carrier, value string) {
	for _, part := range strings.Split(r.Header.Get("Cookie"), ";") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "PVEAuthCookie="); ok {
			return "ticket", unescape(v)
		}
	}
	header := r.Header.Get("Authorization")
	if v, ok := strings.CutPrefix(header, "PVEAuthCookie="); ok {
		return "ticket", unescape(v)
	}
	for _, prefix := range []string{"PVEAPIToken=", "PVEAPIToken "} {
		if v, ok := strings.CutPrefix(header, prefix); ok {
			return "token", unescape(v)
		}
	}
	return "", ""
}

func unescape(v string) string {
	v, _, _ = strings.Cut(v, ";")
	if u, err := url.PathUnescape(v); err == nil {
		return u
	}
	return v
}

// signInToken verifies user@realm!id=secret.
func (s *Server) signInToken(c *call, value string) bool {
	id, secret, _ := strings.Cut(value, "=")
	user, name := permission.SplitToken(id)
	if name == "" || !s.active(user) {
		return false
	}
	t := s.acl.Users[user].Tokens[name]
	if t == nil || !hmac.Equal([]byte(t.Secret), []byte(secret)) || t.Expire != 0 && t.Expire <= s.unix() {
		return false
	}
	c.user, c.token = user, name
	return true
}

// allowedToken refuses API tokens where only a ticket will do.
func (c *call) allowedToken(r *http.Request) error {
	carrier, _ := credentials(r)
	if c.end.noToken && carrier == "token" {
		return denied("URI '" + c.path + "' not available with API token, need proper ticket.\n")
	}
	return nil
}

// loginError is a refusal of a sign-in by its endpoint: it comes late, against guessing.
type loginError struct{ *apiError }

func (e *loginError) Unwrap() error { return e.apiError }

func authenticationFailure() error {
	return &loginError{&apiError{status: 401, message: "authentication failure"}}
}
