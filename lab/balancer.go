package lab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Balancer passes TCP connections on to the first of its backends that accepts them, each in its turn, as a Service
// does for the Pods behind it.
type Balancer struct {
	listener net.Listener
	backends []string

	mu   sync.Mutex
	next int
	only int // the one backend that is used; -1 for all
	open map[net.Conn]bool
}

const dialTimeout = 2 * time.Second

// newBalancer listens at once.
func newBalancer(address string, backends []string) (*Balancer, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for the agents' hooks: %w", err)
	}
	b := &Balancer{listener: listener, backends: backends, only: -1, open: map[net.Conn]bool{}}
	go b.serve()
	return b, nil
}

// Only passes everything on to one backend, counted from 0; -1 makes it all of them again. What is open is cut.
func (b *Balancer) Only(backend int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.only = backend
	for c := range b.open {
		c.Close()
	}
}

func (b *Balancer) close() {
	b.listener.Close()
	b.Only(-1)
}

func (b *Balancer) serve() {
	for {
		conn, err := b.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go b.pass(conn)
		}
	}
}

// pass joins a connection with a backend's until one side ends.
func (b *Balancer) pass(from net.Conn) {
	defer from.Close()
	to := b.dial()
	if to == nil {
		return
	}
	defer to.Close()
	b.note(from, true)
	defer b.note(from, false)
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() {
			_, _ = io.Copy(way[0], way[1]) // an end is an end
			ended <- struct{}{}
		}()
	}
	<-ended
}

func (b *Balancer) note(c net.Conn, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if open {
		b.open[c] = true
	} else {
		delete(b.open, c)
	}
}

func (b *Balancer) dial() net.Conn {
	for _, address := range b.order() {
		if conn, err := net.DialTimeout("tcp", address, dialTimeout); err == nil {
			return conn
		}
	}
	return nil
}

func (b *Balancer) order() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.only >= 0 {
		return b.backends[b.only : b.only+1]
	}
	b.next = (b.next + 1) % len(b.backends)
	return append(append([]string{}, b.backends[b.next:]...), b.backends[:b.next]...)
}
