// Package choice answers which kind of cluster a first machine makes: one in memory, or one of real programs.
package choice

import (
	"context"
	"fmt"
	"log/slog"

	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/kubeadm"
)

// Kind is a kind of cluster, or how one is chosen.
type Kind string

// Light clusters are in this process's memory; real ones run etcd and kube-apiserver in every control-plane machine; with
// auto a cluster is real when the memory for it is there as its first machine comes up.
const (
	Light Kind = "light"
	Real  Kind = "real"
	Auto  Kind = "auto"
)

// Parse reads a kind.
func Parse(text string) (Kind, error) {
	switch k := Kind(text); k {
	case Light, Real, Auto:
		return k, nil
	}
	return "", fmt.Errorf("kind %q is none of light, real and auto", text)
}

// Clusters are those of both kinds. It implements kubeadm.Clusters.
type Clusters struct {
	Kind  Kind
	Light kubeadm.Clusters
	Real  kubeadm.Clusters // nil for Kind Light
	// Enough says why there is not enough memory for one more real cluster; nil when there is. Asked for Auto alone.
	Enough func() error
	Log    *slog.Logger
}

// Find implements kubeadm.Clusters.
func (c *Clusters) Find(endpoint string) kubeadm.Cluster {
	for _, of := range []kubeadm.Clusters{c.Real, c.Light} {
		if of == nil {
			continue
		}
		if found := of.Find(endpoint); found != nil {
			return found
		}
	}
	return nil
}

// Init implements kubeadm.Clusters.
func (c *Clusters) Init(ctx context.Context, s cluster.Spec, first cluster.Node, tokens []string) (kubeadm.Cluster, error) {
	if other := c.Find(s.Endpoint); other != nil {
		return nil, fmt.Errorf("%w: %s has %s", cluster.ErrEndpointTaken, other.Name(), s.Endpoint)
	}
	return c.choose(s).Init(ctx, s, first, tokens)
}

func (c *Clusters) choose(s cluster.Spec) kubeadm.Clusters {
	switch c.Kind {
	case Real:
		return c.Real
	case Auto:
		err := c.Enough()
		if err == nil {
			return c.Real
		}
		c.Log.Info("cluster is a light one", "cluster", s.Name, "endpoint", s.Endpoint, "reason", err)
	}
	return c.Light
}
