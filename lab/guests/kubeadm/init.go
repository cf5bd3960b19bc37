package kubeadm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"

	"kubehenge.dev/lab/guests/cluster"
)

// defaultPort is the API server's when controlPlaneEndpoint names none.
const defaultPort = "6443"

// initialize makes a new cluster with the host as its first node.
func (k *Kubeadm) initialize(ctx context.Context, config *Config, h Host) (Joined, error) {
	if config.Cluster == nil || config.Init == nil {
		return Joined{}, errors.New("configuration lacks ClusterConfiguration or InitConfiguration")
	}
	spec, err := k.spec(config.Cluster, h)
	if err != nil {
		return Joined{}, err
	}
	created, err := k.Clusters.Create(ctx, spec)
	if err != nil {
		return Joined{}, err
	}
	node := h.node(config.Init.NodeRegistration, true, spec.Version)
	if err := k.furnish(ctx, created, config.Init, node); err != nil {
		k.Clusters.Remove(created)
		return Joined{}, err
	}
	return Joined{Cluster: created, Node: node.Name}, nil
}

func (k *Kubeadm) furnish(ctx context.Context, c *cluster.Cluster, config *InitConfiguration, node cluster.Node) error {
	for _, token := range config.BootstrapTokens {
		if err := c.AddToken(ctx, token.Token); err != nil {
			return err
		}
	}
	return c.Join(ctx, node)
}

// spec checks the configuration and the certificates. kubeadm would make certificates that are missing; a cluster whose
// management does not know its CA would be of no use, so here they must be there.
func (k *Kubeadm) spec(c *ClusterConfiguration, h Host) (cluster.Spec, error) {
	if c.KubernetesVersion == "" {
		return cluster.Spec{}, errors.New("kubernetesVersion is empty")
	}
	endpoint, err := withPort(c.ControlPlaneEndpoint)
	if err != nil {
		return cluster.Spec{}, fmt.Errorf("controlPlaneEndpoint: %w", err)
	}
	dir := c.CertificatesDir
	if dir == "" {
		dir = defaultPKI
	}
	now := k.Clock.Now()
	ca, err := h.authority(dir, "ca", now)
	if err != nil {
		return cluster.Spec{}, err
	}
	etcd, err := h.authority(path.Join(dir, "etcd"), "ca", now)
	if err != nil {
		return cluster.Spec{}, err
	}
	if err := h.checkKeyPairs(dir, now); err != nil {
		return cluster.Spec{}, err
	}
	return cluster.Spec{
		Name: c.ClusterName, Endpoint: endpoint, Version: c.KubernetesVersion, CA: ca, EtcdCA: etcd,
		Configuration: c.Document, ImageRepository: c.ImageRepository,
	}, nil
}

func withPort(endpoint string) (string, error) {
	if endpoint == "" {
		return "", errors.New("empty")
	}
	if net.ParseIP(endpoint) != nil {
		return net.JoinHostPort(endpoint, defaultPort), nil
	}
	if _, _, err := net.SplitHostPort(endpoint); err != nil {
		return net.JoinHostPort(endpoint, defaultPort), nil
	}
	return endpoint, nil
}
