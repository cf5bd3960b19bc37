// Package bootstrapdata answers what Cluster API and its Proxmox VE provider write for a machine: for tests, with Cluster
// API's own generators.
package bootstrapdata

import (
	"fmt"

	"github.com/blang/semver/v4"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstream"
	"sigs.k8s.io/cluster-api/util/secret"
)

// Cluster is a cluster as Cluster API sees it before its first machine.
type Cluster struct {
	Name         string
	Endpoint     string // address:port
	Version      string // with its "v"
	Certificates secret.Certificates
}

// NewCluster makes a cluster with CAs of its own, of the given kind of key ("ECDSA-P256" is quick, "RSA-2048" is what
// Cluster API makes by default).
func NewCluster(name, endpoint, version string, keys bootstrapv1.EncryptionAlgorithmType) (*Cluster, error) {
	c := &Cluster{Name: name, Endpoint: endpoint, Version: version}
	c.Certificates = secret.NewCertificatesForInitialControlPlane(&bootstrapv1.ClusterConfiguration{EncryptionAlgorithm: keys})
	if err := c.Certificates.Generate(); err != nil {
		return nil, fmt.Errorf("make CAs of cluster %s: %w", name, err)
	}
	return c, nil
}

// registration is what the lab's ClusterClass says of nodes.
func registration() bootstrapv1.NodeRegistrationOptions {
	id := "proxmox://{{ ds.meta_data.instance_id }}"
	return bootstrapv1.NodeRegistrationOptions{
		Name:             "{{ ds.meta_data.local_hostname }}",
		KubeletExtraArgs: []bootstrapv1.Arg{{Name: "provider-id", Value: &id}},
	}
}

// Init is the user-data of the first machine.
func (c *Cluster) Init() ([]byte, error) {
	version, err := semver.ParseTolerant(c.Version)
	if err != nil {
		return nil, fmt.Errorf("parse version: %w", err)
	}
	configuration := &bootstrapv1.ClusterConfiguration{ControlPlaneEndpoint: c.Endpoint}
	data := &upstream.AdditionalData{KubernetesVersion: &c.Version, ClusterName: &c.Name}
	clusterDocument, err := kubeadmtypes.MarshalClusterConfigurationForVersion(configuration, version, data)
	if err != nil {
		return nil, err
	}
	initDocument, err := kubeadmtypes.MarshalInitConfigurationForVersion(&bootstrapv1.InitConfiguration{NodeRegistration: registration()}, version)
	if err != nil {
		return nil, err
	}
	return cloudinit.NewInitControlPlane(&cloudinit.ControlPlaneInput{
		BaseUserData: base(version), Certificates: c.Certificates,
		ClusterConfiguration: clusterDocument, InitConfiguration: initDocument,
	})
}

// JoinControlPlane is the user-data of a further control-plane machine.
func (c *Cluster) JoinControlPlane(token string) ([]byte, error) {
	version, document, err := c.joinDocument(token, &bootstrapv1.JoinControlPlane{})
	if err != nil {
		return nil, err
	}
	return cloudinit.NewJoinControlPlane(&cloudinit.ControlPlaneJoinInput{
		BaseUserData: base(version), Certificates: c.Certificates, JoinConfiguration: document,
	})
}

// JoinWorker is the user-data of a worker.
func (c *Cluster) JoinWorker(token string) ([]byte, error) {
	version, document, err := c.joinDocument(token, nil)
	if err != nil {
		return nil, err
	}
	return cloudinit.NewNode(&cloudinit.NodeInput{BaseUserData: base(version), JoinConfiguration: document})
}

func (c *Cluster) joinDocument(token string, controlPlane *bootstrapv1.JoinControlPlane) (semver.Version, string, error) {
	version, err := semver.ParseTolerant(c.Version)
	if err != nil {
		return version, "", fmt.Errorf("parse version: %w", err)
	}
	hashes, err := c.Certificates.GetByPurpose(secret.ClusterCA).Hashes()
	if err != nil {
		return version, "", fmt.Errorf("hash CA: %w", err)
	}
	document, err := kubeadmtypes.MarshalJoinConfigurationForVersion(&bootstrapv1.JoinConfiguration{
		NodeRegistration: registration(),
		ControlPlane:     controlPlane,
		Discovery: bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{
			Token: token, APIServerEndpoint: c.Endpoint, CACertHashes: hashes,
		}},
	}, version)
	return version, document, err
}

// base has a file and a command of the kind that classes add.
func base(version semver.Version) cloudinit.BaseUserData {
	return cloudinit.BaseUserData{
		KubernetesVersion:  version,
		AdditionalFiles:    []bootstrapv1.File{{Path: "/etc/kubernetes/prepare.sh", Owner: "root:root", Permissions: "0700", Content: "#!/bin/sh\ntrue\n"}},
		PreKubeadmCommands: []string{"/etc/kubernetes/prepare.sh"},
	}
}
