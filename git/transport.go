package git

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/file"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"
)

// remote opens sessions with the server; one for each URL, so that connections are reused.
type remote struct {
	opts   Options
	client transport.Transport
}

func newRemote(o Options) (*remote, error) {
	ep, err := transport.NewEndpoint(o.URL)
	if err != nil {
		return nil, errors.New("the repository's URL cannot be parsed")
	}
	r := &remote{opts: o}
	switch ep.Protocol {
	case "http", "https":
		r.client, err = newHTTP(o)
	case "ssh":
		r.client, err = newSSH(o)
	case "file":
		r.client = file.DefaultClient
	default:
		err = fmt.Errorf("repositories over %q are not supported", ep.Protocol)
	}
	return r, err
}

// dialTimeout bounds connecting.
const dialTimeout = 15 * time.Second

func newHTTP(o Options) (transport.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	t.ResponseHeaderTimeout = o.Timeout
	if len(o.CABundle) > 0 {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(o.CABundle) {
			return nil, errors.New("the repository's CA bundle holds no certificate")
		}
		t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	c := &http.Client{Transport: limitBodies{next: t, limit: o.MaxPack}}
	return githttp.NewClientWithOptions(c, nil), nil
}

// maxErrorBody is how much of a refusal's text is read.
const maxErrorBody = 64 << 10

// limitBodies ends an answer with ErrTooLarge after limit bytes, whatever the server sends.
type limitBodies struct {
	next  http.RoundTripper
	limit int64
}

func (l limitBodies) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	limit := l.limit
	if res.StatusCode >= http.StatusMultipleChoices {
		limit = maxErrorBody
	}
	res.Body = &limitedBody{ReadCloser: res.Body, left: limit}
	return res, nil
}

type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the server's answer: %w", ErrTooLarge)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func newSSH(o Options) (transport.Transport, error) {
	if o.SSHKeyFile == "" || o.KnownHostsFile == "" {
		return nil, errors.New("a repository over SSH needs a key file and a known hosts file")
	}
	return gitssh.NewClient(nil), nil
}

// auth reads the credentials afresh.
func (r *remote) auth(ep *transport.Endpoint) (method transport.AuthMethod, secret string, err error) {
	switch ep.Protocol {
	case "http", "https":
		secret, err = r.opts.secret()
		if err != nil || secret == "" {
			return nil, "", err
		}
		return &githttp.BasicAuth{Username: r.opts.Username, Password: secret}, secret, nil
	case "ssh":
		method, err = r.sshAuth(ep)
		return method, "", err
	}
	return nil, "", nil
}

func (r *remote) sshAuth(ep *transport.Endpoint) (transport.AuthMethod, error) {
	pem, err := os.ReadFile(r.opts.SSHKeyFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCredentials, err)
	}
	keys, err := gitssh.NewPublicKeys(orDefault(ep.User, r.opts.Username), pem, "")
	if err != nil {
		return nil, fmt.Errorf("%w: %s holds no SSH key without passphrase", ErrNoCredentials, r.opts.SSHKeyFile)
	}
	hosts, err := gitssh.NewKnownHostsDb(r.opts.KnownHostsFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCredentials, err)
	}
	keys.HostKeyCallback = hosts.HostKeyCallback()
	address := net.JoinHostPort(ep.Host, strconv.Itoa(orDefault(ep.Port, gitssh.DefaultPort)))
	return sshKeys{keys, hosts.HostKeyAlgorithms(address)}, nil
}

// sshKeys adds what go-git's own method leaves out: a limit to connecting, and asking for a host key of the kind that is known. Without the
// latter a server with several keys may show one that is not in the list.
type sshKeys struct {
	*gitssh.PublicKeys
	hostKeys []string
}

// ClientConfig is called once for each connection.
func (k sshKeys) ClientConfig() (*ssh.ClientConfig, error) {
	c, err := k.PublicKeys.ClientConfig()
	if err != nil {
		return nil, err
	}
	c.Timeout, c.HostKeyAlgorithms = dialTimeout, k.hostKeys
	return c, nil
}

// uploadPack opens a session to fetch. The secret is returned to be kept out of messages.
func (r *remote) uploadPack() (s transport.UploadPackSession, secret string, err error) {
	ep, auth, secret, err := r.prepare()
	if err != nil {
		return nil, secret, err
	}
	s, err = r.client.NewUploadPackSession(ep, auth)
	return s, secret, err
}

// receivePack opens a session to push.
func (r *remote) receivePack() (s transport.ReceivePackSession, secret string, err error) {
	ep, auth, secret, err := r.prepare()
	if err != nil {
		return nil, secret, err
	}
	s, err = r.client.NewReceivePackSession(ep, auth)
	return s, secret, err
}

// prepare makes a fresh endpoint for each session, because a redirect changes it.
func (r *remote) prepare() (*transport.Endpoint, transport.AuthMethod, string, error) {
	ep, err := transport.NewEndpoint(r.opts.URL)
	if err != nil {
		return nil, nil, "", errors.New("the repository's URL cannot be parsed")
	}
	auth, secret, err := r.auth(ep)
	return ep, auth, secret, err
}

// shown is the URL as messages show it: never with credentials.
func (r *remote) shown() string { return strings.TrimSuffix(clean(r.opts.URL), "/") }
