// Package session answers how a cluster's own plugins reach Proxmox VE: with the token in a Secret of the cluster, and
// through the library that the real plugins use.
package session

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	pve "github.com/luthermonson/go-proxmox"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kubehenge.dev/agent/volumes"
)

// Session is Proxmox VE as the cluster's token sees it. It serves one cluster, and one piece of work at a time.
type Session struct {
	// Token is the one in use, with what else the configuration says.
	Token volumes.Token
	// API makes the calls.
	API *pve.Client

	version   string // of the Secret
	transport *http.Transport
}

// callTimeout is how long a call may take.
const callTimeout = 40 * time.Second

// ErrNotConfigured says that the cluster has no Secret for the plugin yet.
var ErrNotConfigured = errors.New("the plugin is not configured yet")

// Follow reads the plugin's Secret in kube-system, and connects anew when it has changed: the real plugins are started
// anew then. old may be nil.
func Follow(ctx context.Context, kube kubernetes.Interface, name string, old *Session) (*Session, error) {
	secret, err := kube.CoreV1().Secrets(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotConfigured, err)
	}
	if old != nil && old.version == secret.ResourceVersion {
		return old, nil
	}
	s, err := connect(secret)
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	if old != nil {
		old.Close()
	}
	return s, nil
}

func connect(secret *corev1.Secret) (*Session, error) {
	token, err := volumes.ParseToken(*secret)
	if err != nil {
		return nil, err
	}
	var roots *x509.CertPool
	if len(token.CA) > 0 {
		roots = x509.NewCertPool()
		roots.AppendCertsFromPEM(token.CA)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, IdleConnTimeout: 30 * time.Second}
	client := &http.Client{Transport: transport, Timeout: callTimeout}
	return &Session{
		Token: token, version: secret.ResourceVersion, transport: transport,
		API: pve.NewClient(token.URL, pve.WithHTTPClient(client), pve.WithAPIToken(token.ID, token.Secret)),
	}, nil
}

// Close drops the connections.
func (s *Session) Close() {
	if s != nil {
		s.transport.CloseIdleConnections()
	}
}

// VM is a machine as the plugins find it.
type VM struct {
	VMID   int    `json:"vmid"`
	Name   string `json:"name"`
	Node   string `json:"node"`
	Status string `json:"status"`
	Type   string `json:"type"`
}

// Unreachable is true for a VM on a node that does not report.
func (v VM) Unreachable() bool { return v.Status == "unknown" }

// VMs are the machines that the token sees.
func (s *Session) VMs(ctx context.Context) ([]VM, error) {
	var rows []VM
	if err := s.API.Get(ctx, "/cluster/resources?type=vm", &rows); err != nil {
		return nil, fmt.Errorf("list VMs: %w", err)
	}
	return rows, nil
}

// Config is a VM's configuration.
func (s *Session) Config(ctx context.Context, vm VM) (map[string]any, error) {
	config := map[string]any{}
	if err := s.API.Get(ctx, fmt.Sprintf("/nodes/%s/qemu/%d/config", vm.Node, vm.VMID), &config); err != nil {
		return nil, fmt.Errorf("read the configuration of VM %d: %w", vm.VMID, err)
	}
	return config, nil
}
