// Package calls holds the Proxmox VE calls that capmox makes, grouped as its go-proxmox 0.8.0 groups
// them: "get a VM" is always node status, VM status and VM configuration, and so on. The machine
// controller decides what to do; what travels for it, in which order and with which parameters, is here.
//
// Sources: capmox at 38e3ded pkg/proxmox/goproxmox/api_client.go; go-proxmox v0.8.0 nodes.go,
// virtual_machine.go, cluster.go, storage.go, tasks.go.
package calls

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/luthermonson/go-proxmox"
	"k8s.io/utils/clock"

	"kubehenge.dev/lab/capmox/pace"
)

// Credentials say which Proxmox VE to talk to, and as whom.
type Credentials struct {
	URL      string         // without /api2/json
	Token    string         // user@realm!name
	Secret   string         // the token's value
	Roots    *x509.CertPool // nil: the system's
	Insecure bool           // do not verify the certificate
}

// Client makes capmox's calls. One client serves any number of machines.
type Client struct {
	api   *proxmox.Client
	pace  pace.Pace
	clock clock.Clock
}

// Connect makes a client and asks for the version, as capmox does whenever it makes one.
func Connect(ctx context.Context, c Credentials, p pace.Pace, k clock.Clock) (*Client, error) {
	base, err := url.JoinPath(c.URL, "api2", "json")
	if err != nil {
		return nil, fmt.Errorf("invalid proxmox base URL %q: %w", c.URL, err)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.Roots, InsecureSkipVerify: c.Insecure}} //nolint:gosec // as capmox: wanted by whoever set it
	client := &Client{
		api: proxmox.NewClient(base,
			proxmox.WithHTTPClient(&http.Client{Transport: tr}),
			proxmox.WithAPIToken(c.Token, c.Secret)),
		pace:  p,
		clock: k,
	}
	if err := client.get(ctx, "/version", &struct{}{}); err != nil {
		return nil, fmt.Errorf("unable to initialize proxmox api client: %w", err)
	}
	return client, nil
}

// errNotAuthorized is what go-proxmox 0.8.0 makes of every 401 and 403.
var errNotAuthorized = errors.New("not authorized to access endpoint")

func (c *Client) get(ctx context.Context, path string, out any) error {
	return asBefore(c.api.Get(ctx, path, out))
}

func (c *Client) post(ctx context.Context, path string, body, out any) error {
	return asBefore(c.api.Post(ctx, path, body, out))
}

func (c *Client) put(ctx context.Context, path string, body, out any) error {
	return asBefore(c.api.Put(ctx, path, body, out))
}

func (c *Client) delete(ctx context.Context, path string, out any) error {
	return asBefore(c.api.Delete(ctx, path, out))
}

// asBefore gives go-proxmox 0.9.0's errors the texts of 0.8.0, which capmox was built with and whose texts
// it looks into: 500 and 501 are the bare status line, 401 and 403 one fixed text. Any other status was
// read as if it were a success; 595 and its kin have no body, so reading it failed with a JSON error.
func asBefore(err error) error {
	var api *proxmox.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch api.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return errNotAuthorized
	case http.StatusInternalServerError, http.StatusNotImplemented:
		return errors.New(api.Status)
	case http.StatusBadRequest:
		return api
	}
	return errors.New("unexpected end of JSON input")
}

// sleep waits, or ends early with the context's error.
func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.clock.After(d):
		return nil
	}
}
