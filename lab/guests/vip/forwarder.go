// Package vip answers on a cluster's endpoint and passes what comes to the API server of one machine: what kube-vip does
// with an address that it moves from machine to machine.
package vip

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// dialTimeout is how long the machine behind the endpoint may take to accept a connection.
const dialTimeout = 5 * time.Second

// Forwarder serves one endpoint.
type Forwarder struct {
	endpoint string

	mu          sync.Mutex
	target      string // where connections go; empty while nobody has the endpoint
	listener    net.Listener
	connections map[net.Conn]bool
}

// New returns a forwarder that does not listen until it is pointed somewhere.
func New(endpoint string) *Forwarder {
	return &Forwarder{endpoint: endpoint, connections: map[net.Conn]bool{}}
}

// Target is where connections go; empty while the endpoint does not answer.
func (f *Forwarder) Target() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.target
}

// Point lets connections go to another address (address:port). Those to the former one break, as when the address has
// moved to another machine. With an empty target the endpoint is silent.
func (f *Forwarder) Point(ctx context.Context, target string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if target == f.target {
		return nil
	}
	f.target = target
	for c := range f.connections {
		c.Close() //nolint:errcheck // both ends are given up
	}
	clear(f.connections)
	switch {
	case target == "" && f.listener != nil:
		f.listener.Close() //nolint:errcheck // it is given up
		f.listener = nil
	case target != "" && f.listener == nil:
		return f.listen(ctx)
	}
	return nil
}

// Close makes the endpoint silent.
func (f *Forwarder) Close() { _ = f.Point(context.Background(), "") }

// listen is called with the lock held.
func (f *Forwarder) listen(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.endpoint)
	if err != nil {
		f.target = ""
		return fmt.Errorf("serve endpoint: %w", err)
	}
	f.listener = listener
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go f.forward(c)
		}
	}()
	return nil
}

func (f *Forwarder) forward(client net.Conn) {
	defer client.Close() //nolint:errcheck // it has ended
	target := f.Target()
	server, err := net.DialTimeout("tcp", target, dialTimeout)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // it has ended
	if !f.register(target, client, server) {
		return
	}
	defer f.forget(client, server)
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			io.Copy(way[0], way[1]) //nolint:errcheck // either end may go
			ended <- struct{}{}
		}()
	}
	// Neither TLS nor its users keep a connection that is half closed.
	<-ended
}

// register notes the two ends of a connection; false when the endpoint has moved meanwhile.
func (f *Forwarder) register(target string, ends ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.target != target {
		return false
	}
	for _, c := range ends {
		f.connections[c] = true
	}
	return true
}

func (f *Forwarder) forget(ends ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range ends {
		delete(f.connections, c)
	}
}
