package simulator

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// provider is an OpenID Connect provider that asks nobody anything: whoever comes is its user.
type provider struct {
	t      *testing.T
	server *httptest.Server
	key    *rsa.PrivateKey
	now    func() time.Time
	claims map[string]any // of the user
	tamper func(token map[string]any)
	codes  map[string]url.Values // what was asked with a code
}

// providerKeys are the provider's and somebody else's; they are costly to make.
var providerKeys = sync.OnceValue(func() (keys [2]*rsa.PrivateKey) {
	for i := range keys {
		keys[i], _ = rsa.GenerateKey(rand.Reader, 2048) // never fails
	}
	return keys
})

func newProvider(t *testing.T, now func() time.Time) *provider {
	t.Helper()
	key := providerKeys()[0]
	p := &provider{t: t, key: key, now: now, codes: map[string]url.Values{}, claims: map[string]any{"sub": "1234", "preferred_username": "ada", "email": "ada@example.org", "given_name": "Ada"}}
	mux := http.NewServeMux()
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	mux.HandleFunc("/.well-known/openid-configuration", p.answer(func(*http.Request) any {
		return map[string]any{"issuer": p.server.URL, "authorization_endpoint": p.server.URL + "/auth", "token_endpoint": p.server.URL + "/token",
			"userinfo_endpoint": p.server.URL + "/userinfo", "jwks_uri": p.server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}}
	}))
	mux.HandleFunc("/keys", p.answer(func(*http.Request) any {
		return map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "a", "use": "sig", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes())}}}
	}))
	mux.HandleFunc("/token", p.answer(p.token))
	mux.HandleFunc("/userinfo", p.answer(func(r *http.Request) any {
		if r.Header.Get("Authorization") != "Bearer access" {
			return nil
		}
		return p.claims
	}))
	return p
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// answer writes what f returns; nil is a refusal.
func (p *provider) answer(f func(*http.Request) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data := f(r)
		if data == nil {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(data)
	}
}

// browse is the browser at the provider: it comes back with a code.
func (p *provider) browse(address string) (code, state string) {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	code = fmt.Sprintf("code-%d", len(p.codes))
	p.codes[code] = u.Query()
	return code, u.Query().Get("state")
}

func (p *provider) token(r *http.Request) any {
	asked := p.codes[r.FormValue("code")]
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if asked == nil || id != "pve" || secret != "secret" || b64(sum[:]) != asked.Get("code_challenge") || r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		return nil
	}
	delete(p.codes, r.FormValue("code"))
	token := map[string]any{"iss": p.server.URL, "aud": "pve", "sub": p.claims["sub"], "nonce": asked.Get("nonce"), "iat": p.now().Unix(), "exp": p.now().Add(time.Minute).Unix()}
	if p.tamper != nil {
		p.tamper(token)
	}
	body, _ := json.Marshal(token)
	text := b64([]byte(`{"alg":"RS256","kid":"a"}`)) + "." + b64(body)
	hash := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, hash[:])
	if err != nil {
		return nil
	}
	return map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": text + "." + b64(sig)}
}

const redirect = "https://pve.example.org:8006"

// openIDWorld is a simulator whose realm sso asks a provider.
func openIDWorld(t *testing.T, options map[string]any) (*Server, *provider) {
	t.Helper()
	s, clock := faked(t)
	p := newProvider(t, clock.Now)
	params := map[string]any{"realm": "sso", "type": "openid", "issuer-url": p.server.URL, "client-id": "pve", "client-key": "secret", "username-claim": "preferred_username"}
	for k, v := range options {
		params[k] = v
	}
	root(t, s).must("POST", "/access/domains", params)
	return s, p
}

func TestSignInByOpenID(t *testing.T) {
	for name, c := range map[string]struct {
		options map[string]any
		before  func(r *caller, p *provider)
		want    string // the user, or the refusal
	}{
		"a user that is there":                {nil, func(r *caller, _ *provider) { r.must("POST", "/access/users", map[string]any{"userid": "ada@sso"}) }, "ada@sso"},
		"a user that is not":                  {nil, nil, "authentication failure"},
		"a user that the realm makes":         {map[string]any{"autocreate": 1}, nil, "ada@sso"},
		"a name from another claim":           {map[string]any{"autocreate": 1, "username-claim": "subject"}, nil, "1234@sso"},
		"a claim that the provider lacks":     {map[string]any{"autocreate": 1, "username-claim": "nick"}, nil, "authentication failure"},
		"a name that cannot be":               {map[string]any{"autocreate": 1}, func(_ *caller, p *provider) { p.claims["preferred_username"] = "a b" }, "authentication failure"},
		"a token for another client":          {map[string]any{"autocreate": 1}, func(_ *caller, p *provider) { p.tamper = func(k map[string]any) { k["aud"] = "x" } }, "authentication failure"},
		"a further audience that is accepted": {map[string]any{"autocreate": 1, "audiences": "x"}, func(_ *caller, p *provider) { p.tamper = func(k map[string]any) { k["aud"] = []string{"pve", "x"} } }, "ada@sso"},
		"a token of another issuer":           {map[string]any{"autocreate": 1}, func(_ *caller, p *provider) { p.tamper = func(k map[string]any) { k["iss"] = "http://x" } }, "authentication failure"},
		"a token that has expired":            {map[string]any{"autocreate": 1}, func(_ *caller, p *provider) { p.tamper = func(k map[string]any) { k["exp"] = 1 } }, "authentication failure"},
		"a token of another sign-in":          {map[string]any{"autocreate": 1}, func(_ *caller, p *provider) { p.tamper = func(k map[string]any) { k["nonce"] = "x" } }, "authentication failure"},
		"claims of somebody else":             {map[string]any{"autocreate": 1}, func(_ *caller, p *provider) { p.tamper = func(k map[string]any) { k["sub"] = "x" } }, "authentication failure"},
		"a token signed by somebody else":     {map[string]any{"autocreate": 1}, func(_ *caller, p *provider) { p.key = providerKeys()[1] }, "authentication failure"},
		"a user who is switched off": {map[string]any{"autocreate": 1}, func(r *caller, _ *provider) {
			r.must("POST", "/access/users", map[string]any{"userid": "ada@sso", "enable": 0})
		}, "authentication failure"},
		"without asking for further information": {map[string]any{"autocreate": 1, "query-userinfo": 0, "username-claim": "sub"}, nil, "1234@sso"},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := openIDWorld(t, c.options)
			if c.before != nil {
				c.before(root(t, s), p)
			}
			browser := stranger(t, s)
			address := browser.must("POST", "/access/openid/auth-url", map[string]any{"realm": "sso", "redirect-url": redirect}).(string)
			code, state := p.browse(address)
			a := browser.call("POST", "/access/openid/login", map[string]any{"code": code, "state": state, "redirect-url": redirect})
			got := a.Reason
			if data, ok := a.Data.(map[string]any); ok {
				got = data["username"].(string)
				browser.header.Set("Cookie", "PVEAuthCookie="+data["ticket"].(string))
				browser.must("GET", "/version", nil)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if a := browser.call("POST", "/access/openid/login", map[string]any{"code": code, "state": state, "redirect-url": redirect}); a.Status != 401 {
				t.Errorf("the same state again: %d", a.Status)
			}
		})
	}
}

func TestGroupsByOpenID(t *testing.T) {
	for name, c := range map[string]struct {
		options map[string]any
		want    []any
	}{
		"those that exist":              {nil, []any{"here", "dev-sso"}},
		"all of them":                   {map[string]any{"groups-autocreate": 1}, []any{"here", "dev-sso", "ops-sso"}},
		"those of the provider only":    {map[string]any{"groups-overwrite": 1}, []any{"dev-sso"}},
		"none, the claim is no list":    {map[string]any{"groups-claim": "sub"}, []any{"here"}},
		"none, without a claim for it ": {map[string]any{"groups-claim": "none"}, []any{"here"}},
	} {
		t.Run(name, func(t *testing.T) {
			options := map[string]any{"groups-claim": "groups"}
			for k, v := range c.options {
				options[k] = v
			}
			s, p := openIDWorld(t, options)
			p.claims["groups"] = []string{"dev", "ops", "no good"}
			r := root(t, s)
			for _, g := range []string{"here", "dev-sso"} {
				r.must("POST", "/access/groups", map[string]any{"groupid": g})
			}
			r.must("POST", "/access/users", map[string]any{"userid": "ada@sso", "groups": "here"})
			browser := stranger(t, s)
			code, state := p.browse(browser.must("POST", "/access/openid/auth-url", map[string]any{"realm": "sso", "redirect-url": redirect}).(string))
			browser.must("POST", "/access/openid/login", map[string]any{"code": code, "state": state, "redirect-url": redirect})
			got := r.must("GET", "/access/users/ada@sso", nil).(map[string]any)["groups"].([]any)
			if !sameSet(got, c.want) {
				t.Errorf("groups %v, want %v", got, c.want)
			}
		})
	}
}

func sameSet(a, b []any) bool {
	m := map[any]int{}
	for _, v := range a {
		m[v]++
	}
	for _, v := range b {
		m[v]--
	}
	for _, n := range m {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestOpenIDRefusals(t *testing.T) {
	s, _ := openIDWorld(t, nil)
	for name, c := range map[string]struct {
		realm, want string
	}{
		"a realm that does not exist": {"nope", "authentication domain 'nope' does not exist"},
		"a realm of another type":     {"pve", "wrong realm type (pve != openid)"},
	} {
		if a := stranger(t, s).call("POST", "/access/openid/auth-url", map[string]any{"realm": c.realm, "redirect-url": redirect}); a.Status != 500 || a.Reason != c.want {
			t.Errorf("%s: %d %s", name, a.Status, a.Reason)
		}
	}
	if a := root(t, s).call("POST", "/access/users", map[string]any{"userid": "x@sso", "password": "password1"}); a.Reason != "create user failed: can't set password on auth type 'openid'" {
		t.Errorf("a password in an OpenID realm: %s", a.Reason)
	}
}

func TestRealms(t *testing.T) {
	s := Start(t)
	r := root(t, s)
	for _, c := range []struct {
		method, path string
		params       map[string]any
		want         string
	}{
		{"POST", "/access/domains", map[string]any{"realm": "pve", "type": "openid"}, "add auth server failed: domain 'pve' already exists"},
		{"POST", "/access/domains", map[string]any{"realm": "x2", "type": "pam"}, "add auth server failed: unable to create builtin type 'pam'"},
		{"POST", "/access/domains", map[string]any{"realm": "x2", "type": "openid", "client-id": "a"}, "add auth server failed: missing value for required option 'issuer-url'"},
		{"POST", "/access/domains", map[string]any{"realm": "x2", "type": "openid", "client-id": "a", "issuer-url": "http://x", "server1": "y"}, "add auth server failed: unexpected property 'server1'"},
		{"POST", "/access/domains", map[string]any{"realm": "x2", "type": "openid", "client-id": "a", "issuer-url": "http://x", "default": 1}, "OK"},
		{"PUT", "/access/domains/x2", nil, "update auth server failed: no options specified"},
		{"PUT", "/access/domains/x2", map[string]any{"comment": "single sign-on", "digest": "0"}, "update auth server failed: detected modified configuration - file changed by other user? Try again."},
		{"PUT", "/access/domains/x2", map[string]any{"comment": "single sign-on"}, "OK"},
		{"PUT", "/access/domains/pve", map[string]any{"tfa": "type=oath"}, "OK"},
		{"PUT", "/access/domains/nope", map[string]any{"comment": "x"}, "update auth server failed: domain 'nope' does not exist"},
		{"DELETE", "/access/domains/nope", nil, "delete auth server failed: authentication domain 'nope' does not exist"},
	} {
		if a := r.call(c.method, c.path, c.params); a.Reason != c.want {
			t.Errorf("%s %s: %d %s, want %s", c.method, c.path, a.Status, a.Reason, c.want)
		}
	}
	rows := stranger(t, s).must("GET", "/access/domains", nil)
	want := []any{
		map[string]any{"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
		map[string]any{"realm": "pve", "type": "pve", "comment": "Proxmox VE authentication server", "tfa": "oath"},
		map[string]any{"realm": "x2", "type": "openid", "comment": "single sign-on", "default": float64(1)},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Error(d)
	}
	r.must("DELETE", "/access/domains/x2", nil)
}
