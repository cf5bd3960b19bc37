package kubeadm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"kubehenge.dev/lab/guests/cluster"
)

// join makes the host part of the cluster that its configuration names, through that cluster's API server.
func (k *Kubeadm) join(ctx context.Context, config *Config, h Host) (Joined, error) {
	if config.Join == nil {
		return Joined{}, errors.New("configuration lacks JoinConfiguration")
	}
	discovery, err := config.Join.discovery()
	if err != nil {
		return Joined{}, err
	}
	found, err := k.discover(ctx, discovery)
	if err != nil {
		return Joined{}, err
	}
	c := k.Clusters.At(discovery.APIServerEndpoint)
	if c == nil {
		return Joined{}, fmt.Errorf("the API server at %s is no simulated cluster", discovery.APIServerEndpoint)
	}
	controlPlane := config.Join.ControlPlane != nil
	if controlPlane {
		if err := k.checkAuthorities(h, found, c); err != nil {
			return Joined{}, err
		}
	}
	node := h.node(config.Join.NodeRegistration, controlPlane, found.KubernetesVersion)
	if err := c.Join(ctx, node); err != nil {
		return Joined{}, err
	}
	return Joined{Cluster: c, Node: node.Name}, nil
}

// discovery checks the part of the configuration that says how to find the cluster, as kubeadm's validation does.
func (j *JoinConfiguration) discovery() (TokenDiscovery, error) {
	d := j.Discovery.BootstrapToken
	if d == nil {
		return TokenDiscovery{}, errors.New("discovery.bootstrapToken is missing; other ways of discovery are not simulated")
	}
	if !cluster.TokenPattern.MatchString(d.Token) {
		return TokenDiscovery{}, errors.New("discovery.bootstrapToken.token is malformed")
	}
	if len(d.CACertHashes) == 0 && !d.UnsafeSkipCAVerification {
		return TokenDiscovery{}, errors.New("discovery.bootstrapToken.caCertHashes is empty")
	}
	endpoint, err := withPort(d.APIServerEndpoint)
	if err != nil {
		return TokenDiscovery{}, fmt.Errorf("discovery.bootstrapToken.apiServerEndpoint: %w", err)
	}
	checked := *d
	checked.APIServerEndpoint = endpoint
	return checked, nil
}

// checkAuthorities checks that a machine of the control plane brings the CAs of the cluster it joins.
func (k *Kubeadm) checkAuthorities(h Host, found *ClusterConfiguration, c *cluster.Cluster) error {
	dir := found.CertificatesDir
	if dir == "" {
		dir = defaultPKI
	}
	now := k.Clock.Now()
	ca, etcd := c.Authorities()
	for _, pair := range []struct {
		dir  string
		want cluster.Authority
	}{{dir, ca}, {dir + "/etcd", etcd}} {
		got, err := h.authority(pair.dir, "ca", now)
		if err != nil {
			return err
		}
		if !got.SameKey(pair.want) {
			return fmt.Errorf("%s/ca.crt is not the cluster's CA", pair.dir)
		}
	}
	return h.checkKeyPairs(dir, now)
}

// pinned says whether one of the hashes is the CA's.
func pinned(hashes []string, hash string) bool { return slices.Contains(hashes, hash) }
