package proxmox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	pve "github.com/luthermonson/go-proxmox"
	"k8s.io/utils/clock"
)

// DefaultTimeout is how long a call may take. Proxmox VE itself waits up to 30 s for a node that does not answer,
// before it says 595; that answer should still be heard.
const DefaultTimeout = 40 * time.Second

// Options say which Proxmox VE, and as whom.
type Options struct {
	// URL is the API's address, such as https://pve1.example.org:8006/api2/json. The path may be left out.
	URL string
	// TokenID is the API token, user@realm!name.
	TokenID string
	// TokenFile holds the token's secret and is read afresh for each call, so that it can be rotated.
	TokenFile string
	// Secret is the token's secret itself; for tests and the lab. Not together with TokenFile.
	Secret string
	// CA are the certificates, in PEM, that vouch for the server. Default: the system's.
	CA []byte
	// Timeout is how long one call may take, its answer included. Default: DefaultTimeout.
	Timeout time.Duration
	// OnCall is told of every call after its answer, retries included: method, route (Route(path), so that
	// there are few of them) and status, 0 when there was no answer. It must be quick and safe for concurrent use.
	OnCall func(method, route string, status int)
	// Clock is for pauses between retries and polls. Default: the real one.
	Clock clock.Clock
}

// Client is a connection to one Proxmox VE. It is safe for concurrent use.
type Client struct {
	api   *pve.Client
	clock clock.Clock
}

// Connect prepares a client. It makes no call; Version does.
func Connect(o Options) (*Client, error) {
	t := token{id: o.TokenID, secret: o.Secret, file: o.TokenFile}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("connect to Proxmox VE as %s: %w", o.TokenID, err)
	}
	return connectAs(t, o)
}

// connectAs prepares a client whose calls are made by somebody.
func connectAs(who signer, o Options) (*Client, error) {
	base, err := baseURL(o.URL)
	if err != nil {
		return nil, fmt.Errorf("connect to Proxmox VE: %w", err)
	}
	roots, err := trusted(o.CA)
	if err != nil {
		return nil, fmt.Errorf("connect to Proxmox VE at %s: %w", base, err)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	judge := &judge{next: wire(roots), signer: who, timeout: o.Timeout, onCall: o.OnCall}
	client := &http.Client{Transport: &retry{next: judge, clock: o.Clock}}
	return &Client{api: pve.NewClient(base, pve.WithHTTPClient(client), pve.WithUserAgent("kubehenge")), clock: o.Clock}, nil
}

// baseURL is the address with its path, without a slash at the end. Only https will do.
func baseURL(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("address: %w", err)
	}
	if u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("address %q is not like https://pve1.example.org:8006/api2/json", u.Redacted())
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/api2/json"
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// trusted are the certificates that vouch for the server; nil means the system's.
func trusted(ca []byte) (*x509.CertPool, error) {
	if len(ca) == 0 {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the CA holds no certificate in PEM")
	}
	return pool, nil
}

// wire is the network: TLS, verified, and HTTP/1.1 only, which is all that Proxmox VE speaks.
func wire(roots *x509.CertPool) http.RoundTripper {
	return &http.Transport{
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:     false,
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       30 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// Version is Proxmox VE's, such as 9.2.11. It needs a valid token, so it tells whether the connection is good.
func (c *Client) Version(ctx context.Context) (string, error) {
	var v struct {
		Version string `json:"version"`
	}
	if err := c.get(ctx, "/version", &v); err != nil {
		return "", err
	}
	return v.Version, nil
}
