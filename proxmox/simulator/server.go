package simulator

import (
	"errors"
	"log/slog"
	"sync"

	"k8s.io/utils/clock"
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

// Server is a simulated Proxmox VE cluster and its API.
type Server struct {
	clock   clock.WithTicker
	profile Profile
	guests  Guests
	log     *slog.Logger

	faultMu sync.Mutex
	faults  []*rule
}

// New makes a simulator that does not listen yet.
func New(o Options) (*Server, error) { return nil, errors.New("not yet") }

// Listen serves the API at addr ("127.0.0.1:0" chooses a port) until Close. The certificate is valid for the address,
// for localhost and for the names of the nodes.
func (s *Server) Listen(addr string) error { return errors.New("not yet") }

// Close stops listening, ends open connections and running tasks.
func (s *Server) Close() {}

// URL is the address of the API as clients are configured with it, https://127.0.0.1:8006/api2/json.
func (s *Server) URL() string { return "" }

// PageURL is the address to look at with a browser.
func (s *Server) PageURL() string { return "" }

// CA is the certificate authority (PEM) that signed the server's certificate.
func (s *Server) CA() []byte { return nil }

// Snapshot returns a copy of what exists now.
func (s *Server) Snapshot() Snapshot { return Snapshot{} }

// Calls returns the calls that were answered, oldest first.
func (s *Server) Calls() []Call { return nil }

// ForgetCalls empties the list of calls.
func (s *Server) ForgetCalls() {}

// Save returns the present state as an inventory.
func (s *Server) Save() *Inventory { return nil }

// TokenSecret returns the secret of an API token ("user@realm!id") and whether it exists.
func (s *Server) TokenSecret(tokenID string) (string, bool) { return "", false }

// SetNodeOnline switches a node on or off. Guests on a node that goes off are stopped.
func (s *Server) SetNodeOnline(node string, online bool) error { return nil }
