package lab_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// provider is an OpenID Connect provider that asks nobody anything: every browser that comes is ada's, and goes back at
// once with a code.
type provider struct {
	*httptest.Server
	key *rsa.PrivateKey

	mu    sync.Mutex
	codes map[string]url.Values // what was asked with a code
}

// The provider's client, Proxmox VE.
const clientID, clientSecret = "pve", "secret"

func newProvider(t *testing.T) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"userinfo_endpoint": p.URL + "/userinfo", "jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"}})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		write(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "kid": "a", "use": "sig", "n": encoded(key.N.Bytes()), "e": encoded(big.NewInt(int64(key.E)).Bytes())}}})
	})
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, _ *http.Request) { write(w, ada) })
	mux.HandleFunc("/auth", p.authorize)
	mux.HandleFunc("/token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

var ada = map[string]any{"sub": "1234", "preferred_username": "ada", "email": "ada@example.org"}

func encoded(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func write(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // who asked is gone
}

// authorize sends the browser back with a code.
func (p *provider) authorize(w http.ResponseWriter, r *http.Request) {
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = r.URL.Query()
	p.mu.Unlock()
	back := url.Values{"code": {code}, "state": {r.URL.Query().Get("state")}}
	http.Redirect(w, r, r.URL.Query().Get("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
}

// token gives Proxmox VE the identity behind a code, once.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	code := r.FormValue("code")
	p.mu.Lock()
	asked := p.codes[code]
	delete(p.codes, code)
	p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	verifier := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if asked == nil || id != clientID || secret != clientSecret || encoded(verifier[:]) != asked.Get("code_challenge") || r.FormValue("redirect_uri") != asked.Get("redirect_uri") {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	identity, err := p.sign(map[string]any{"iss": p.URL, "aud": clientID, "sub": ada["sub"], "nonce": asked.Get("nonce"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix()})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": identity})
}

// sign makes a JSON Web Token.
func (p *provider) sign(claims map[string]any) (string, error) {
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := encoded([]byte(`{"alg":"RS256","kid":"a"}`)) + "." + encoded(body)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	return text + "." + encoded(signature), err
}
