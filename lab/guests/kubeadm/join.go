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
	c := k.Clusters.Find(discovery.APIServerEndpoint)
	if c == nil {
		return Joined{}, fmt.Errorf("the API server at %s is no simulated cluster", discovery.APIServerEndpoint)
	}
	var spec cluster.Spec
	controlPlane := config.Join.ControlPlane != nil
	if controlPlane {
		if spec, err = k.controlPlaneSpec(h, found, c); err != nil {
			return Joined{}, err
		}
	}
	node := h.node(config.Join.NodeRegistration, controlPlane, found.KubernetesVersion)
	if err := c.Join(ctx, spec, node); err != nil {
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

// controlPlaneSpec is the cluster as a machine of the control plane sees it, which must bring the CAs of the cluster it joins.
func (k *Kubeadm) controlPlaneSpec(h Host, found *ClusterConfiguration, c Cluster) (cluster.Spec, error) {
	spec, err := k.spec(found, h)
	if err != nil {
		return cluster.Spec{}, err
	}
	ca, etcd := c.Authorities()
	for _, pair := range []struct {
		dir       string
		got, want cluster.Authority
	}{{spec.CertificatesDir, spec.CA, ca}, {spec.CertificatesDir + "/etcd", spec.EtcdCA, etcd}} {
		if !pair.got.SameKey(pair.want) {
			return cluster.Spec{}, fmt.Errorf("%s/ca.crt is not the cluster's CA", pair.dir)
		}
	}
	return spec, nil
}

// pinned says whether one of the hashes is the CA's.
func pinned(hashes []string, hash string) bool { return slices.Contains(hashes, hash) }
