package signin

import (
	"net/http"
	"time"
)

// CookieName is the cookie of a session; the other one is for a sign-in by OpenID. Browsers take a name with this prefix only over HTTPS, for the whole
// host and no other, so that no other host of the domain can plant one. https://www.rfc-editor.org/rfc/rfc6265#section-4.1.3 and its successor, "Cookie Name Prefixes".
const (
	CookieName   = "__Host-kubehenge"
	openIDCookie = "__Host-kubehenge-openid"
)

// SetCookie gives a browser a session's identifier until the session ends.
func SetCookie(w http.ResponseWriter, id string, ends time.Time) {
	http.SetCookie(w, cookie(CookieName, id, ends, http.SameSiteStrictMode))
}

// ClearCookie takes the identifier away.
func ClearCookie(w http.ResponseWriter) {
	c := cookie(CookieName, "", time.Unix(1, 0), http.SameSiteStrictMode)
	c.MaxAge = -1
	http.SetCookie(w, c)
}

// ReadCookie is the identifier that a request brings; empty without one.
func ReadCookie(r *http.Request) string {
	c, err := r.Cookie(CookieName)
	if err != nil {
		return ""
	}
	return c.Value
}

func cookie(name, value string, ends time.Time, site http.SameSite) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: "/", Expires: ends.UTC(), Secure: true, HttpOnly: true, SameSite: site}
}
