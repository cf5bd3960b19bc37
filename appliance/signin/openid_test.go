package signin_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

const back = "https://kubehenge.example/api/openid/callback"

// provider is an OpenID provider that vouches for whoever comes, as alice.
type provider struct {
	server *httptest.Server
	key    *rsa.PrivateKey
	nonce  string
	now    func() time.Time
}

func startProvider(t *testing.T, now func() time.Time) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key, now: now}
	mux := http.NewServeMux()
	answer := func(path string, of func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(of()) })
	}
	answer("/.well-known/openid-configuration", func() any {
		at := p.server.URL
		return map[string]any{"issuer": at, "authorization_endpoint": at + "/auth", "token_endpoint": at + "/token", "jwks_uri": at + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"}}
	})
	answer("/keys", func() any {
		return map[string]any{"keys": []any{map[string]any{"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": text64(key.N.Bytes()), "e": "AQAB"}}}
	})
	answer("/token", func() any {
		return map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": p.idToken()}
	})
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

func text64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *provider) idToken() string {
	part := func(v map[string]any) string { b, _ := json.Marshal(v); return text64(b) }
	now := p.now().Unix()
	signed := part(map[string]any{"alg": "RS256", "kid": "1"}) + "." + part(map[string]any{"iss": p.server.URL, "aud": "pve", "sub": "alice", "nonce": p.nonce, "iat": now, "exp": now + 300})
	sum := sha256.Sum256([]byte(signed))
	signature, _ := rsa.SignPKCS1v15(nil, p.key, crypto.SHA256, sum[:])
	return signed + "." + text64(signature)
}

// openIDWorld is a Proxmox VE with a realm of that provider.
func openIDWorld(t *testing.T) (*world, *provider) {
	t.Helper()
	w := &world{T: t, clock: testclock.NewFakeClock(time.Now())}
	p := startProvider(t, w.clock.Now)
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Realms = append(inv.Realms, simulator.RealmSpec{Name: "sso", Type: "openid", Options: map[string]string{"issuer-url": p.server.URL, "client-id": "pve", "client-key": "k", "autocreate": "1"}})
	w.proxmox = simulator.Start(t, func(o *simulator.Options) { o.Inventory, o.Clock = inv, w.clock })
	w.keeper = signin.New(signin.Options{Proxmox: w.options(), Clock: w.clock})
	return w, p
}

// begin is a browser that goes to the provider; it gives what the browser comes back with.
func (w *world) begin(p *provider) (state string, kept []*http.Cookie) {
	w.Helper()
	rec := httptest.NewRecorder()
	address, err := w.keeper.BeginOpenID(w.Context(), rec, "sso", back)
	if err != nil {
		w.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		w.Fatal(err)
	}
	p.nonce = u.Query().Get("nonce")
	return u.Query().Get("state"), rec.Result().Cookies()
}

func (w *world) finish(state string, kept []*http.Cookie) (*signin.Session, error) {
	req := httptest.NewRequest(http.MethodGet, "/api/openid/callback?"+url.Values{"state": {state}, "code": {"c"}}.Encode(), nil)
	for _, c := range kept {
		req.AddCookie(c)
	}
	_, s, err := w.keeper.FinishOpenID(w.Context(), httptest.NewRecorder(), req, back, home)
	return s, err
}

func TestAnOpenIDSignInEndsInTheBrowserThatBeganIt(t *testing.T) {
	w, p := openIDWorld(t)
	state, kept := w.begin(p)
	if len(kept) != 1 || !kept[0].Secure || !kept[0].HttpOnly || kept[0].SameSite != http.SameSiteLaxMode || kept[0].Value == state {
		t.Errorf("cookies %+v", kept)
	}
	s, err := w.finish(state, kept)
	if err != nil || s.User != "alice@sso" {
		t.Fatalf("signed in as %+v: %v", s, err)
	}
	if _, err := s.Proxmox.AllPermissions(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := w.finish(state, kept); !errors.Is(err, signin.ErrWrong) {
		t.Errorf("a second time: %v", err)
	}
}

func TestAnOpenIDSignInOfAnotherBrowserIsRefused(t *testing.T) {
	w, p := openIDWorld(t)
	state, _ := w.begin(p)
	if _, err := w.finish(state, nil); !errors.Is(err, signin.ErrWrong) {
		t.Errorf("without the cookie: %v", err)
	}
	_, kept := w.begin(p)
	if _, err := w.finish(state, kept); !errors.Is(err, signin.ErrWrong) {
		t.Errorf("with another sign-in's cookie: %v", err)
	}
	if _, err := w.keeper.BeginOpenID(t.Context(), httptest.NewRecorder(), "pve", back); !proxmox.Is(err, proxmox.KindOf(err)) || err == nil {
		t.Errorf("a realm that is not OpenID's began: %v", err)
	}
}
