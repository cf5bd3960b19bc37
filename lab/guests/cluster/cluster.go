package cluster

import (
	"context"
	"crypto/tls"
	"net/http"
	"sync"

	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
)

// Spec is a cluster as kubeadm init makes it.
type Spec struct {
	Name     string // clusterName
	Endpoint string // address:port, a loopback address
	Version  string // kubernetesVersion, with its "v"
	// CA signs the API server's certificate and the clients'; EtcdCA those of etcd.
	CA, EtcdCA Authority
	// Configuration is the ClusterConfiguration document, kept in the ConfigMap kubeadm-config.
	Configuration string
	// ImageRepository is where the images of the cluster's own workloads come from; registry.k8s.io by default.
	ImageRepository string

	// What follows is for clusters that run real programs; this package makes nothing of it.

	// CertificatesDir is where the machines' certificates are, on their disks.
	CertificatesDir string
	// DNSDomain, PodSubnet and ServiceSubnet are the cluster's networking; PodSubnet may be empty.
	DNSDomain, PodSubnet, ServiceSubnet string
	// CertSANs are further names and addresses for the API server's certificate.
	CertSANs []string
	// ExtraArgs are flags by component (kube-apiserver, kube-controller-manager, kube-scheduler, etcd) and name.
	ExtraArgs map[string]map[string]string
}

// Cluster is one simulated Kubernetes cluster. It lives as long as a control-plane machine of it exists, running or not.
type Cluster struct {
	registry *Registry
	spec     Spec
	host     string // of the endpoint, without the port
	group    string // resource group in the in-memory runtime
	serving  *tls.Certificate

	mu     sync.Mutex
	nodes  map[string]*member // machines that joined and still exist
	gone   map[*member]bool   // machines that do not, while their nodes still count as ready
	server *http.Server       // nil while the endpoint is silent
	closed bool
}

// member is a machine that is part of the cluster.
type member struct {
	node     Node
	running  bool
	grace    stopper          // fires when the node counts as not ready; nil when none is pending
	etcdCert *tls.Certificate // of its etcd member; nil for workers
}

// stopper is the part of a timer that is needed to take it back.
type stopper interface{ Stop() bool }

// Name is the cluster's name as kubeadm knows it.
func (c *Cluster) Name() string { return c.spec.Name }

// Endpoint is the address and port of the API server.
func (c *Cluster) Endpoint() string { return c.spec.Endpoint }

// Authorities are the two CAs that the cluster was made with.
func (c *Cluster) Authorities() (ca, etcd Authority) { return c.spec.CA, c.spec.EtcdCA }

// objects is a client of the cluster's objects that no authentication stands before.
func (c *Cluster) objects() inmemory.Client {
	return c.registry.manager.GetResourceGroup(c.group).GetClient()
}

// issueServingCertificate makes the API server's certificate.
func (c *Cluster) issueServingCertificate(context.Context) error {
	certificate, err := c.spec.CA.issue(c.registry.clock.Now(), servingSubject("kube-apiserver", c.host, apiServerNames...))
	c.serving = certificate
	return err
}

// runningMember returns a machine of the cluster that runs, or nil.
func (c *Cluster) runningMember(name string) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.nodes[name]; m != nil && m.running {
		return m
	}
	return nil
}
