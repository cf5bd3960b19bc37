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
	var tokens []string
	for _, token := range config.Init.BootstrapTokens {
		tokens = append(tokens, token.Token)
	}
	node := h.node(config.Init.NodeRegistration, true, spec.Version)
	created, err := k.Clusters.Init(ctx, spec, node, tokens)
	if err != nil {
		return Joined{}, err
	}
	return Joined{Cluster: created, Node: node.Name}, nil
}

// spec checks the configuration and the certificates. kubeadm would make certificates that are missing; a cluster whose
// management does not know its CA would be of no use, so here they must be there.
func (k *Kubeadm) spec(c *ClusterConfiguration, h Host) (cluster.Spec, error) {
	if c.KubernetesVersion == "" {
		return cluster.Spec{}, errors.New("kubernetesVersion is empty")
	}
	if c.Etcd.External != nil {
		return cluster.Spec{}, errors.New("etcd.external is not simulated")
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
		Configuration: c.Document, ImageRepository: c.ImageRepository, CertificatesDir: dir, CertSANs: c.APIServer.CertSANs,
		DNSDomain:     orDefault(c.Networking.DNSDomain, "cluster.local"),
		PodSubnet:     c.Networking.PodSubnet,
		ServiceSubnet: orDefault(c.Networking.ServiceSubnet, "10.96.0.0/12"),
		ExtraArgs: map[string]map[string]string{
			"kube-apiserver": c.APIServer.ExtraArgs, "kube-controller-manager": c.ControllerManager.ExtraArgs,
			"kube-scheduler": c.Scheduler.ExtraArgs, "etcd": c.Etcd.Local.ExtraArgs,
		},
	}, nil
}

func orDefault(value, usual string) string {
	if value == "" {
		return usual
	}
	return value
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
