package kubeadm

import (
	"context"

	"kubehenge.dev/lab/guests/cluster"
)

// Clusters are the clusters that a machine can be part of, of whatever kind.
type Clusters interface {
	// Init makes a new cluster with its first node and bootstrap tokens, or nothing at all. cluster.ErrEndpointTaken
	// when another cluster has the endpoint, cluster.ErrNotLoopback when it is no loopback address.
	Init(ctx context.Context, s cluster.Spec, first cluster.Node, tokens []string) (Cluster, error)
	// Find returns the cluster at an endpoint (address:port), or nil.
	Find(endpoint string) Cluster
}

// Cluster is a simulated cluster, of whatever kind. The power calls ignore names that are not the cluster's.
type Cluster interface {
	// Name is the cluster's name as kubeadm knows it.
	Name() string
	// Endpoint is the address and port of the API server.
	Endpoint() string
	// Authorities are the two CAs that the cluster was made with.
	Authorities() (ca, etcd cluster.Authority)
	// Join makes a machine part of the cluster. s is the cluster as a machine of the control plane sees it; a worker's is
	// empty. cluster.ErrNodeReady when a node of that name exists and works.
	Join(ctx context.Context, s cluster.Spec, n cluster.Node) error
	// Started, Stopped and Destroyed say what became of the machine of a node.
	Started(ctx context.Context, node string) error
	Stopped(ctx context.Context, node string) error
	Destroyed(ctx context.Context, node string) error
}

// Light is the kind of cluster whose API server and etcd are in this process's memory.
type Light struct{ *cluster.Registry }

// Init implements Clusters.
func (l Light) Init(ctx context.Context, s cluster.Spec, first cluster.Node, tokens []string) (Cluster, error) {
	c, err := l.Create(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := furnish(ctx, c, first, tokens); err != nil {
		l.Remove(c)
		return nil, err
	}
	return light{c}, nil
}

func furnish(ctx context.Context, c *cluster.Cluster, first cluster.Node, tokens []string) error {
	for _, token := range tokens {
		if err := c.AddToken(ctx, token); err != nil {
			return err
		}
	}
	return c.Join(ctx, first)
}

// Find implements Clusters.
func (l Light) Find(endpoint string) Cluster {
	if c := l.At(endpoint); c != nil {
		return light{c}
	}
	return nil
}

// light is a cluster in memory, where every machine of the control plane is the same.
type light struct{ *cluster.Cluster }

func (l light) Join(ctx context.Context, _ cluster.Spec, n cluster.Node) error {
	return l.Cluster.Join(ctx, n)
}
