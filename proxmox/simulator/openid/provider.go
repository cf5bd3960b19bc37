package openid

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config is a realm's.
type Config struct {
	Issuer, ClientID, ClientKey string
	Scopes                      []string // beside openid
	Prompt                      string
	ACR                         []string
	Audiences                   []string // accepted beside the client's ID
	SkipUserInfo                bool     // only believe the ID token
}

// Provider is an OpenID Connect provider as its discovery document describes it.
type Provider struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	UserInfoEndpoint      string   `json:"userinfo_endpoint"`
	KeysURI               string   `json:"jwks_uri"`
	Algorithms            []string `json:"id_token_signing_alg_values_supported"`

	client *http.Client
	keys   keySet
}

// maxAnswer limits what is read from a provider, in bytes.
const maxAnswer = 1 << 20

// Discover asks an issuer how it works.
func Discover(ctx context.Context, client *http.Client, issuer string) (*Provider, error) {
	p := &Provider{client: client}
	if err := p.get(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", "", p); err != nil {
		return nil, fmt.Errorf("discover %s: %w", issuer, err)
	}
	if p.Issuer != issuer {
		return nil, fmt.Errorf("discover %s: unexpected issuer URI `%s`", issuer, p.Issuer)
	}
	if err := p.get(ctx, p.KeysURI, "", &p.keys); err != nil {
		return nil, fmt.Errorf("keys of %s: %w", issuer, err)
	}
	return p, nil
}

func (p *Provider) get(ctx context.Context, address, token string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return p.do(req, into)
}

func (p *Provider) do(req *http.Request, into any) error {
	req.Header.Set("Accept", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("server returned %s", resp.Status)
	}
	return json.Unmarshal(data, into)
}

// AuthURL is where the browser has to go; it comes back to redirect.
func (p *Provider) AuthURL(c Config, redirect string, s *State) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {c.ClientID}, "redirect_uri": {redirect}, "state": {s.Public()}, "nonce": {s.nonce},
		"scope": {strings.Join(append([]string{"openid"}, c.Scopes...), " ")}, "code_challenge": {s.challenge()}, "code_challenge_method": {"S256"},
		"display": {"page"},
	}
	if c.Prompt != "" {
		q.Set("prompt", c.Prompt)
	}
	if len(c.ACR) > 0 {
		q.Set("acr_values", strings.Join(c.ACR, " "))
	}
	separator := "?"
	if strings.Contains(p.AuthorizationEndpoint, "?") {
		separator = "&"
	}
	return p.AuthorizationEndpoint + separator + q.Encode()
}

// Claims exchanges the code for what the provider says about the user: the ID token's claims, and those of the user
// information that it lacks.
func (p *Provider) Claims(ctx context.Context, c Config, redirect, code string, s *State, now time.Time) (map[string]any, error) {
	var tokens struct {
		Access string `json:"access_token"`
		ID     string `json:"id_token"`
	}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {s.verifier}}
	if c.ClientKey == "" {
		form.Set("client_id", c.ClientID)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.TokenEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.ClientKey != "" {
		req.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientKey))
	}
	if err := p.do(req, &tokens); err != nil {
		return nil, fmt.Errorf("contact token endpoint: %w", err)
	}
	claims, err := p.verify(tokens.ID, c, s.nonce, now)
	if err != nil {
		return nil, fmt.Errorf("verify ID token: %w", err)
	}
	if c.SkipUserInfo || p.UserInfoEndpoint == "" {
		return claims, nil
	}
	more := map[string]any{}
	if err := p.get(ctx, p.UserInfoEndpoint, tokens.Access, &more); err != nil {
		return nil, fmt.Errorf("contact userinfo endpoint: %w", err)
	}
	if more["sub"] != claims["sub"] {
		return nil, fmt.Errorf("userinfo is about %v, the ID token about %v", more["sub"], claims["sub"])
	}
	for k, v := range more {
		if claims[k] == nil {
			claims[k] = v
		}
	}
	return claims, nil
}
