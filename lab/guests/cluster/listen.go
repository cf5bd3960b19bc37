package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"
)

// etcdPrefix begins the server name by which a client asks for one etcd member: the name of its pod.
const etcdPrefix = "etcd-"

// listen makes the endpoint answer; it does nothing when it already does.
func (c *Cluster) listen(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil || c.closed {
		return nil
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", c.spec.Endpoint)
	if err != nil {
		return fmt.Errorf("serve cluster %s: %w", c.spec.Name, err)
	}
	c.server = &http.Server{
		Handler:           c,
		TLSConfig:         c.tlsConfig(),
		ReadHeaderTimeout: 10 * time.Second,
		// What clients do wrong in a handshake, and the in-memory server's repeated WriteHeader calls, are no news.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go c.server.ServeTLS(listener, "", "") //nolint:errcheck // ends with ErrServerClosed
	return nil
}

// silence closes the endpoint and every connection to it; it does nothing when it is closed.
func (c *Cluster) silence() {
	c.mu.Lock()
	server := c.server
	c.server = nil
	c.mu.Unlock()
	if server != nil {
		server.Close() //nolint:errcheck // the listener is gone either way
	}
}

// close ends the cluster: it never listens again, and no timer of it fires.
func (c *Cluster) close() {
	c.mu.Lock()
	c.closed = true
	for _, m := range c.nodes {
		m.cancelGrace()
	}
	for m := range c.gone {
		m.cancelGrace()
	}
	c.mu.Unlock()
	c.silence()
}

// tlsConfig presents the API server's certificate, or an etcd member's to those who name one. Client certificates of
// the API server are checked at each request, as kube-apiserver does; etcd asks for them in the handshake.
func (c *Cluster) tlsConfig() *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		ClientAuth: tls.RequestClientCert,
	}
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.serving, nil }
	config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if !strings.HasPrefix(hello.ServerName, etcdPrefix) {
			return nil, nil
		}
		return c.etcdConfig(strings.TrimPrefix(hello.ServerName, etcdPrefix))
	}
	return config
}

func (c *Cluster) etcdConfig(node string) (*tls.Config, error) {
	m := c.runningMember(node)
	if m == nil || m.etcdCert == nil {
		return nil, errors.New("no such etcd member runs")
	}
	pool := x509.NewCertPool()
	pool.AddCert(c.spec.EtcdCA.Certificate)
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2"},
		Certificates: []tls.Certificate{*m.etcdCert},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
	}, nil
}
