package openid

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// provider is an OpenID Connect provider whose answers a test decides.
type provider struct {
	*httptest.Server
	rsa    *rsa.PrivateKey
	ec     *ecdsa.PrivateKey
	form   url.Values // that the token endpoint got
	header http.Header
	token  string         // ID token that it gives
	info   map[string]any // about the user
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	var err error
	if p.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if p.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth?tenant=1", "token_endpoint": p.URL + "/token", "userinfo_endpoint": p.URL + "/info", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "ES256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		point, _ := p.ec.PublicKey.Bytes()
		answer(w, map[string]any{"keys": []map[string]string{
			{"kty": "RSA", "kid": "r", "use": "sig", "n": b64(p.rsa.N.Bytes()), "e": b64(big.NewInt(int64(p.rsa.E)).Bytes())},
			{"kty": "EC", "kid": "e", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
		}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		p.form, p.header = r.Form, r.Header
		answer(w, map[string]string{"access_token": "access", "id_token": p.token})
	})
	mux.HandleFunc("/info", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer access" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		answer(w, p.info)
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// sign makes a token of claims.
func (p *provider) sign(t *testing.T, algorithm string, claims map[string]any) string {
	t.Helper()
	kid := map[string]string{"RS256": "r", "ES256": "e"}[algorithm]
	head, _ := json.Marshal(map[string]string{"alg": algorithm, "kid": kid})
	body, _ := json.Marshal(claims)
	text := b64(head) + "." + b64(body)
	sum := sha256.Sum256([]byte(text))
	var sig []byte
	var err error
	if algorithm == "ES256" {
		r, s, signErr := ecdsa.Sign(rand.Reader, p.ec, sum[:])
		sig, err = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...), signErr
	} else {
		sig, err = rsa.SignPKCS1v15(rand.Reader, p.rsa, crypto.SHA256, sum[:])
	}
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + b64(sig)
}

func begun(t *testing.T, p *provider) (*Provider, *State) {
	t.Helper()
	known, err := Discover(t.Context(), p.Client(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	state, err := (&Pending{}).Begin("sso", at)
	if err != nil {
		t.Fatal(err)
	}
	return known, state
}

func TestASignInThatSucceeds(t *testing.T) {
	for _, algorithm := range []string{"RS256", "ES256"} {
		p := newProvider(t)
		known, state := begun(t, p)
		c := Config{Issuer: p.URL, ClientID: "pve", ClientKey: "s3:cret", Scopes: []string{"email"}, Prompt: "login", ACR: []string{"a", "b"}}
		u, err := url.Parse(known.AuthURL(c, "https://pve/", state))
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range map[string]string{"tenant": "1", "client_id": "pve", "scope": "openid email", "prompt": "login", "acr_values": "a b", "code_challenge_method": "S256", "redirect_uri": "https://pve/"} {
			if got := u.Query().Get(k); got != want {
				t.Errorf("%s is %q, want %q", k, got, want)
			}
		}
		p.token = p.sign(t, algorithm, map[string]any{"iss": p.URL, "aud": "pve", "sub": "1", "exp": at.Unix() + 60, "nonce": u.Query().Get("nonce"), "email": "id@token"})
		p.info = map[string]any{"sub": "1", "email": "user@info", "name": "Alice"}
		claims, err := known.Claims(t.Context(), c, "https://pve/", "code", state, at)
		if err != nil || claims["email"] != "id@token" || claims["name"] != "Alice" {
			t.Errorf("%s: %v, %v", algorithm, claims, err)
		}
		if p.form.Get("code_verifier") == "" || p.form.Get("client_id") != "" || !strings.HasPrefix(p.header.Get("Authorization"), "Basic ") {
			t.Errorf("the token endpoint got %v", p.form)
		}
	}
}

func TestTokensThatAreRefused(t *testing.T) {
	p := newProvider(t)
	known, state := begun(t, p)
	good := func() map[string]any {
		return map[string]any{"iss": p.URL, "aud": []any{"pve", "other"}, "sub": "1", "exp": at.Unix() + 60, "nonce": state.nonce}
	}
	for name, c := range map[string]struct {
		claim string
		value any
		want  string
	}{
		"nothing is wrong":     {"", nil, ""},
		"of somebody else":     {"iss", "https://elsewhere", "issuer is https://elsewhere"},
		"for somebody else":    {"aud", "them", "audience is [them]"},
		"for one too many":     {"aud", []any{"pve", "third"}, "audience [pve third] is not accepted"},
		"that has expired":     {"exp", at.Unix(), "it has expired"},
		"for another sign-in":  {"nonce", "x", "it is for another sign-in"},
		"about nobody":         {"sub", "", "it has no subject"},
		"about somebody else":  {"sub", "2", "userinfo is about 1, the ID token about 2"},
		"without an end":       {"exp", nil, "it has expired"},
		"for nobody at all":    {"aud", nil, "audience is []"},
		"with a subject of 1":  {"sub", 1, "it has no subject"},
		"with a nonce of none": {"nonce", nil, "it is for another sign-in"},
	} {
		t.Run(name, func(t *testing.T) {
			claims := good()
			if c.claim != "" {
				claims[c.claim] = c.value
			}
			p.token, p.info = p.sign(t, "RS256", claims), map[string]any{"sub": "1"}
			_, err := known.Claims(t.Context(), Config{ClientID: "pve", Audiences: []string{"other"}}, "https://pve/", "code", state, at)
			if (err == nil) != (c.want == "") || err != nil && !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestSignaturesThatAreRefused(t *testing.T) {
	p := newProvider(t)
	known, state := begun(t, p)
	good := p.sign(t, "RS256", map[string]any{"iss": p.URL, "aud": "pve", "sub": "1", "exp": at.Unix() + 60, "nonce": state.nonce})
	parts := strings.Split(good, ".")
	head := func(algorithm string) string { return b64([]byte(`{"alg":"` + algorithm + `","kid":"r"}`)) }
	for name, token := range map[string]string{
		"none at all":            parts[0] + "." + parts[1] + ".",
		"no token":               "x",
		"of another text":        parts[0] + "." + b64([]byte(`{"sub":"2"}`)) + "." + parts[2],
		"of algorithm none":      head("none") + "." + parts[1] + ".",
		"of the key as a secret": head("HS256") + "." + parts[1] + "." + parts[2],
		"by the wrong key":       head("ES256") + "." + parts[1] + "." + parts[2],
		"that is no base64":      parts[0] + "." + parts[1] + ".!",
		"of claims that are no":  parts[0] + ".x." + parts[2],
	} {
		if _, err := known.verify(token, Config{ClientID: "pve"}, state.nonce, at); err == nil {
			t.Errorf("a signature %s is accepted", name)
		}
	}
	if _, err := known.verify(good, Config{ClientID: "pve"}, state.nonce, at); err != nil {
		t.Error(err)
	}
}

func TestProvidersThatAreNone(t *testing.T) {
	p := newProvider(t)
	for issuer, want := range map[string]string{p.URL + "/": "unexpected issuer URI", p.URL + "/none": "server returned 404 Not Found", "http://127.0.0.1:1": "connect"} {
		if _, err := Discover(t.Context(), p.Client(), issuer); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", issuer, err)
		}
	}
}

func TestASignInIsTakenOnceAndInTime(t *testing.T) {
	p := &Pending{}
	one, err := p.Begin("sso", at)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := p.Begin("sso", at)
	if got, err := p.Take(one.Public(), at.Add(stateTimeout)); err != nil || got != one {
		t.Errorf("in time: %v", err)
	}
	for name, public := range map[string]string{"again": one.Public(), "too late": two.Public(), "no JSON": "x", "of another realm": strings.Replace(two.Public(), "sso", "other", 1)} {
		when := at
		if name == "too late" {
			when = at.Add(stateTimeout + time.Second)
		}
		if _, err := p.Take(public, when); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	for range maxPending + 1 {
		if _, err = p.Begin("busy", at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Begin("busy", at); err == nil {
		t.Error("there is no end of sign-ins")
	}
	if _, err := p.Begin("busy", at.Add(2*stateTimeout)); err != nil {
		t.Errorf("old sign-ins are not forgotten: %v", err)
	}
}
