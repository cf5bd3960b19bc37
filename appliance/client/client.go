package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"kubehenge.dev/appliance/signin"
	"kubehenge.dev/appliance/wire"
)

// Limits of one call.
const (
	timeout   = 2 * time.Minute
	maxAnswer = 64 << 20
)

// Client calls one appliance, with a session or without.
type Client struct {
	session Session
	http    *http.Client
}

// New is a client with a session, or with one that has no more than a URL and certificates.
func New(s Session) (*Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%q is not an address such as https://kubehenge.example.org", s.URL)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, fmt.Errorf("%s: only https will do, since passwords go there; http is for this machine alone", s.URL)
	}
	s.URL = strings.TrimRight(s.URL, "/")
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: 10 * time.Second}).DialContext, ForceAttemptHTTP2: true}
	if s.CA != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(s.CA)) {
			return nil, errors.New("the CA file holds no certificates in PEM")
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	}
	// No redirect is followed: the API has none, and a session goes to nobody else.
	never := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{session: s, http: &http.Client{Timeout: timeout, Transport: transport, CheckRedirect: never}}, nil
}

func loopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

// Session is the client's session as it is now.
func (c *Client) Session() Session { return c.session }

// Error is an answer that is no success.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Failure is what the appliance says.
	wire.Failure
}

// Error is the appliance's own sentence; the problems of a change are a line each. What others wrote cannot steer a terminal.
func (e *Error) Error() string {
	if len(e.Problems) == 0 {
		return printable(e.Failure.Error)
	}
	text := "the change does not pass the checks:"
	for _, p := range e.Problems {
		text += "\n  " + printable(p.String())
	}
	return text
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// StatusOf is the HTTP status of an Error; 0 for any other.
func StatusOf(err error) int {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// away is an error of the way to the appliance.
type away struct{ error }

func (e *away) Unwrap() error { return e.error }

// Passing tells whether an error may pass by itself: the appliance was not reached, or cannot answer now.
func Passing(err error) bool {
	e, status := (*away)(nil), StatusOf(err)
	return errors.As(err, &e) || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
}

// call sends a body as JSON, where there is one, and decodes the answer.
func call[T any](ctx context.Context, c *Client, method, path string, body any) (*T, error) {
	answer := new(T)
	content, err := c.send(ctx, method, path, body)
	if err != nil || len(content) == 0 {
		return answer, err
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return nil, fmt.Errorf("read the appliance's answer: %w; is %s a Kubehenge of this release?", err, c.session.URL)
	}
	return answer, nil
}

func (c *Client) send(ctx context.Context, method, path string, body any) ([]byte, error) {
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(c.session.URL, err)
	}
	defer func() { _ = resp.Body.Close() }() // it is read to its end
	c.keep(resp)
	content, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, &away{fmt.Errorf("read the appliance's answer: %w", err)}
	}
	if resp.StatusCode/100 == 2 {
		return content, nil
	}
	e := &Error{Status: resp.StatusCode}
	if json.Unmarshal(content, &e.Failure) != nil || e.Failure.Error == "" {
		e.Failure.Error = fmt.Sprintf("%s answers %s; is it a Kubehenge?", c.session.URL, resp.Status)
	}
	return nil, e
}

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.session.URL+path, content)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.session.ID != "" {
		req.Header.Set("Cookie", signin.CookieName+"="+c.session.ID)
	}
	if method != http.MethodGet {
		req.Header.Set(wire.CSRFHeader, c.session.CSRF)
	}
	return req, nil
}

// keep takes over the session's identifier that an answer sets.
func (c *Client) keep(resp *http.Response) {
	for _, cookie := range resp.Cookies() {
		if cookie.Name == signin.CookieName {
			c.session.ID = cookie.Value
		}
	}
}

// unreachable says what helps where a certificate is not trusted.
func unreachable(address string, err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err
	}
	if e := (*tls.CertificateVerificationError)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w; give the certificate that vouches for it with --ca-file when you sign in", address, err)
	}
	return &away{fmt.Errorf("reach %s: %w", address, err)}
}
