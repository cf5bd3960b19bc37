// Package real answers what a Kubernetes cluster of simulated machines says to its clients when real programs run in it:
// each machine of the control plane has an etcd member and a kube-apiserver of its own, on the machine's address and with
// the certificates and flags of its bootstrap data; one machine at a time has the cluster's endpoint, and with it the
// cluster's one kube-controller-manager and kube-scheduler. Nodes run pods in name only (package kubelet).
package real

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"

	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubeadm"
)

// Options set a registry up.
type Options struct {
	// Program is the control-plane binary: etcd, kube-apiserver, kube-controller-manager and kube-scheduler as subcommands.
	Program string
	// Dir holds the machines' disks and the programs' logs.
	Dir string
	// NodeGrace is how long a node may be silent before it counts as not ready; at least minGrace.
	NodeGrace time.Duration
	Log       *slog.Logger
}

// minGrace keeps nodes Ready on a machine that is busy with something else for a while.
const minGrace = 16 * time.Second

// Registry holds the clusters of this process, by endpoint.
type Registry struct {
	options Options

	mu       sync.Mutex
	clusters map[string]*Cluster
}

// NewRegistry returns an empty registry.
func NewRegistry(o Options) (*Registry, error) {
	if o.Program == "" || o.Dir == "" {
		return nil, errors.New("real guests need the control-plane program and a folder for their disks")
	}
	o.NodeGrace = max(o.NodeGrace, minGrace)
	for _, dir := range []string{"machines", "logs"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, dir), 0o700); err != nil {
			return nil, fmt.Errorf("make a folder for guests: %w", err)
		}
	}
	return &Registry{options: o, clusters: map[string]*Cluster{}}, nil
}

// Find returns the cluster at an endpoint, or nil.
func (r *Registry) Find(endpoint string) kubeadm.Cluster {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.clusters[endpoint]; c != nil {
		return c
	}
	return nil
}

// Init implements kubeadm.Clusters. It takes as long as etcd and kube-apiserver take to start.
func (r *Registry) Init(ctx context.Context, s cluster.Spec, first cluster.Node, tokens []string) (kubeadm.Cluster, error) {
	c, err := r.reserve(s)
	if err != nil {
		return nil, err
	}
	if err := c.initialize(ctx, first, tokens); err != nil {
		r.remove(c)
		return nil, err
	}
	return c, nil
}

func (r *Registry) reserve(s cluster.Spec) (*Cluster, error) {
	endpoint, err := netip.ParseAddrPort(s.Endpoint)
	if err != nil || !endpoint.Addr().IsLoopback() || endpoint.Port() == 0 {
		return nil, fmt.Errorf("%w: %q", cluster.ErrNotLoopback, s.Endpoint)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if other := r.clusters[s.Endpoint]; other != nil {
		return nil, fmt.Errorf("%w: %s has %s", cluster.ErrEndpointTaken, other.spec.Name, s.Endpoint)
	}
	c := newCluster(r, s)
	r.clusters[s.Endpoint] = c
	return c, nil
}

// remove ends a cluster and forgets it; a second call does nothing.
func (r *Registry) remove(c *Cluster) {
	c.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clusters[c.spec.Endpoint] == c {
		delete(r.clusters, c.spec.Endpoint)
	}
}

// Close ends every cluster.
func (r *Registry) Close() {
	r.mu.Lock()
	all := make([]*Cluster, 0, len(r.clusters))
	for _, c := range r.clusters {
		all = append(all, c)
	}
	r.mu.Unlock()
	var work sync.WaitGroup
	for _, c := range all {
		work.Go(func() { r.remove(c) })
	}
	work.Wait()
}
