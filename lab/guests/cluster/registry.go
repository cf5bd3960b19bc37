// Package cluster answers what a Kubernetes cluster of simulated machines says to its clients: one in-memory API server
// and etcd a cluster, on the cluster's own loopback address, with the certificates that its machines were given.
//
// The API server and etcd are Cluster API's own test doubles (sigs.k8s.io/cluster-api/test, infrastructure/inmemory).
// This package adds what they lack: TLS by cluster, authentication, /version, OpenAPI, unconditional updates, and nodes
// that come and go with their machines.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-logr/logr"
	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryapi "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server/api"
	inmemoryetcd "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server/etcd"

	"k8s.io/utils/clock"
)

// Errors of Create.
var (
	ErrEndpointTaken = errors.New("endpoint is already served by another cluster")
	ErrNotLoopback   = errors.New("endpoint is not a loopback address")
)

// Options set a registry up.
type Options struct {
	// Clock is the time; the default is the real one.
	Clock clock.WithDelayedExecution
	// NodeGrace is how long after its machine has gone a node counts as not ready. Upstream: the node controller's
	// --node-monitor-grace-period, 50 s by default.
	NodeGrace time.Duration
}

// Registry holds the clusters of this process, by endpoint.
type Registry struct {
	clock clock.WithDelayedExecution
	grace time.Duration

	manager inmemory.Manager
	api     http.Handler
	etcd    http.Handler

	mu       sync.Mutex
	clusters map[string]*Cluster // key: address:port
	serial   int                 // of the next resource group
}

// NewRegistry returns an empty registry that lives until ctx ends.
func NewRegistry(ctx context.Context, o Options) (*Registry, error) {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, fmt.Errorf("register API types: %w", err)
	}
	r := &Registry{clock: o.Clock, grace: o.NodeGrace, manager: inmemory.NewManager(scheme), clusters: map[string]*Cluster{}}
	if err := r.manager.Start(ctx); err != nil {
		return nil, fmt.Errorf("start in-memory runtime: %w", err)
	}
	r.api = inmemoryapi.NewAPIServerHandler(r.manager, logr.Discard(), r.groupOf)
	r.etcd = inmemoryetcd.NewEtcdServerHandler(r.manager, logr.Discard(), r.groupOf)
	return r, nil
}

// groupOf names the resource group of the cluster at an endpoint; the shared handlers find their data by it.
func (r *Registry) groupOf(endpoint string) (string, error) {
	if c := r.At(endpoint); c != nil {
		return c.group, nil
	}
	return "", fmt.Errorf("no cluster at %s", endpoint)
}

// At returns the cluster at an endpoint (address:port), or nil.
func (r *Registry) At(endpoint string) *Cluster {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clusters[endpoint]
}

// All returns every cluster, in no order.
func (r *Registry) All() []*Cluster {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*Cluster, 0, len(r.clusters))
	for _, c := range r.clusters {
		all = append(all, c)
	}
	return all
}

// Create starts a cluster without nodes: its objects exist and its endpoint listens. ErrEndpointTaken when another
// cluster has the endpoint, ErrNotLoopback when it is no loopback address with a port.
func (r *Registry) Create(ctx context.Context, s Spec) (*Cluster, error) {
	if err := checkEndpoint(s.Endpoint); err != nil {
		return nil, err
	}
	c, err := r.reserve(s)
	if err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{c.issueServingCertificate, c.seed, c.listen} {
		if err := step(ctx); err != nil {
			r.Remove(c)
			return nil, err
		}
	}
	return c, nil
}

func checkEndpoint(endpoint string) error {
	address, err := netip.ParseAddrPort(endpoint)
	if err != nil || !address.Addr().IsLoopback() || address.Port() == 0 {
		return fmt.Errorf("%w: %q", ErrNotLoopback, endpoint)
	}
	return nil
}

func (r *Registry) reserve(s Spec) (*Cluster, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.clusters[s.Endpoint]; other != nil {
		return nil, fmt.Errorf("%w: %s has %s", ErrEndpointTaken, other.spec.Name, s.Endpoint)
	}
	r.serial++
	host, _, err := net.SplitHostPort(s.Endpoint)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		registry: r, spec: s, host: host, group: fmt.Sprintf("%s#%d", s.Endpoint, r.serial),
		nodes: map[string]*member{}, gone: map[*member]bool{},
	}
	r.manager.AddResourceGroup(c.group)
	r.clusters[s.Endpoint] = c
	return c, nil
}

// Remove stops a cluster and forgets its objects; a second call does nothing.
func (r *Registry) Remove(c *Cluster) {
	c.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clusters[c.spec.Endpoint] != c {
		return
	}
	delete(r.clusters, c.spec.Endpoint)
	r.manager.DeleteResourceGroup(c.group)
}

// Close stops every cluster.
func (r *Registry) Close() {
	for _, c := range r.All() {
		r.Remove(c)
	}
}
