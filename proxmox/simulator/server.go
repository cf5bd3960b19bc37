package simulator

import (
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"

	"k8s.io/utils/clock"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/api/ha"
	"kubehenge.dev/proxmox/simulator/api/lxc"
	"kubehenge.dev/proxmox/simulator/api/qemu"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/fault"
	"kubehenge.dev/proxmox/simulator/permission"
	"kubehenge.dev/proxmox/simulator/wire"
)

// Options say how a simulator behaves.
type Options struct {
	Inventory *Inventory       // default: the ready inventory "lab"
	Profile   Profile          // how long things take; the zero value is Instant
	Clock     clock.WithTicker // default: the real one
	Guests    Guests           // default: no guest agent ever answers
	Version   string           // "9.2" (default) or "8.4"
	Log       *slog.Logger     // default: discards
}

// Server is a simulated Proxmox VE cluster and its API. All nodes are answered for by one address.
type Server struct {
	state  *core.State
	routes *core.Routes
	wire   *wire.Server
	url    string

	faults fault.Rules

	callMu sync.Mutex
	calls  []Call
}

// New makes a simulator that does not listen yet.
func New(o Options) (*Server, error) {
	o, err := defaults(o)
	if err != nil {
		return nil, err
	}
	s := &Server{state: core.NewState(o.Clock, o.Profile, o.Guests, o.Log, access.Version(o.Version)), routes: &core.Routes{}}
	s.state.Manager, s.state.Kinds = ha.Manage, map[string]core.Kind{"qemu": qemu.Kind, "lxc": lxc.Kind}
	for _, e := range endpoints() {
		if e.Only == "" || e.Only == s.state.Version {
			s.routes.Add(e)
		}
	}
	if err := s.load(o.Inventory); err != nil {
		s.state.Cancel()
		return nil, fmt.Errorf("load inventory: %w", err)
	}
	s.background()
	return s, nil
}

func defaults(o Options) (Options, error) {
	if o.Inventory == nil {
		inv, err := LoadInventory("lab")
		if err != nil {
			return o, err
		}
		o.Inventory = inv
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Version == "" {
		o.Version = string(access.V9)
	}
	if !slices.Contains([]access.Version{access.V8, access.V9}, access.Version(o.Version)) {
		return o, fmt.Errorf("version %q is neither %s nor %s", o.Version, access.V8, access.V9)
	}
	return o, nil
}

// Listen serves the API at addr ("127.0.0.1:0" chooses a port) until Close. The certificate is valid for the address,
// for localhost and for the names of the nodes.
func (s *Server) Listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("simulated Proxmox VE: listen: %w", err)
	}
	host, _, _ := net.SplitHostPort(l.Addr().String())
	certificate, ca, err := wire.Certificate(append([]string{host, "127.0.0.1", "localhost"}, s.state.NodeNames()...))
	if err != nil {
		_ = l.Close()
		return fmt.Errorf("simulated Proxmox VE: %w", err)
	}
	s.state.CA, s.url = ca, "https://"+l.Addr().String()
	s.wire = wire.New(s.serve, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}, s.state.Now)
	s.wire.Serve(l)
	return nil
}

// Close stops listening, ends open connections and running tasks.
func (s *Server) Close() {
	s.state.Cancel()
	if s.wire != nil {
		s.wire.Close()
	}
	s.state.Workers.Wait()
}

// URL is the address of the API as clients are configured with it, such as https://127.0.0.1:8006/api2/json.
func (s *Server) URL() string { return s.url + "/api2/json" }

// PageURL is the address to look at with a browser.
func (s *Server) PageURL() string { return s.url + "/" }

// CA is the certificate authority (PEM) that signed the server's certificate.
func (s *Server) CA() []byte { return s.state.CA }

// TokenSecret returns the secret of an API token ("user@realm!id") and whether it exists.
func (s *Server) TokenSecret(tokenID string) (string, bool) {
	s.state.Mu.Lock()
	defer s.state.Mu.Unlock()
	user, name := permission.SplitToken(tokenID)
	if u := s.state.ACL.Users[user]; u != nil && u.Tokens[name] != nil {
		return u.Tokens[name].Secret, true
	}
	return "", false
}
