package kubeadm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"kubehenge.dev/lab/guests/cluster"
)

// Paths that a joining machine reads. Upstream: kubernetes, cmd/kubeadm/app/discovery/token/token.go
const (
	clusterInfoPath   = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
	kubeadmConfigPath = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config"
)

// errUnreachable marks attempts that are worth repeating.
var errUnreachable = errors.New("API server cannot be reached")

// discover finds the cluster: it fetches cluster-info without trusting the server, checks the CA in it against the
// hashes, and with that CA and the token reads the cluster's configuration. An API server that does not answer yet is
// waited for.
func (k *Kubeadm) discover(ctx context.Context, d TokenDiscovery) (*ClusterConfiguration, error) {
	deadline := k.Clock.Now().Add(k.DiscoveryTimeout)
	for {
		found, err := k.attempt(ctx, d)
		if err == nil || !errors.Is(err, errUnreachable) || !k.Clock.Now().Before(deadline) {
			return found, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-k.Clock.After(k.RetryEvery):
		}
	}
}

func (k *Kubeadm) attempt(ctx context.Context, d TokenDiscovery) (*ClusterConfiguration, error) {
	//nolint:gosec // whether the server is the right one is seen by the hash of its CA, below
	info, err := k.get(ctx, &tls.Config{InsecureSkipVerify: true}, d.APIServerEndpoint, clusterInfoPath, "")
	if err != nil {
		return nil, fmt.Errorf("read cluster-info: %w", err)
	}
	pool, err := trustedCAs(info.Data["kubeconfig"], d)
	if err != nil {
		return nil, err
	}
	config, err := k.get(ctx, &tls.Config{RootCAs: pool, Time: k.Clock.Now}, d.APIServerEndpoint, kubeadmConfigPath, d.Token)
	if err != nil {
		return nil, fmt.Errorf("read kubeadm-config: %w", err)
	}
	decoded, err := DecodeConfig([]byte(config.Data["ClusterConfiguration"]))
	if err != nil {
		return nil, err
	}
	if decoded.Cluster == nil {
		return nil, errors.New("read kubeadm-config: it holds no ClusterConfiguration")
	}
	return decoded.Cluster, nil
}

// trustedCAs takes the CAs from cluster-info's kubeconfig, and checks them against the hashes.
func trustedCAs(kubeconfig string, d TokenDiscovery) (*x509.CertPool, error) {
	config, err := clientcmd.Load([]byte(kubeconfig))
	if err != nil {
		return nil, fmt.Errorf("decode cluster-info: %w", err)
	}
	pool, matched := x509.NewCertPool(), false
	for _, c := range config.Clusters {
		for block, rest := pem.Decode(c.CertificateAuthorityData); block != nil; block, rest = pem.Decode(rest) {
			certificate, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("decode cluster-info: %w", err)
			}
			pool.AddCert(certificate)
			matched = matched || pinned(d.CACertHashes, cluster.PublicKeyHash(certificate))
		}
	}
	if !matched && !d.UnsafeSkipCAVerification {
		return nil, errors.New("cluster CA found in cluster-info does not match any of caCertHashes")
	}
	return pool, nil
}

// get reads a ConfigMap from an API server.
func (k *Kubeadm) get(ctx context.Context, config *tls.Config, endpoint, path, token string) (*corev1.ConfigMap, error) {
	transport := &http.Transport{TLSClientConfig: config, DialContext: loopbackDialer.DialContext, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+endpoint+path, nil)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return nil, classify(err)
	}
	defer response.Body.Close()
	return decodeConfigMap(response)
}

// classify tells a server that cannot be reached from one that must not be trusted.
func classify(err error) error {
	var verification *tls.CertificateVerificationError
	if errors.As(err, &verification) {
		return err
	}
	return fmt.Errorf("%w: %w", errUnreachable, err)
}

func decodeConfigMap(response *http.Response) (*corev1.ConfigMap, error) {
	switch {
	case response.StatusCode == http.StatusUnauthorized:
		return nil, errors.New("the API server does not accept the bootstrap token")
	case response.StatusCode >= http.StatusInternalServerError:
		return nil, fmt.Errorf("%w: status %s", errUnreachable, response.Status)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %s", response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreachable, err)
	}
	found := &corev1.ConfigMap{}
	if err := json.Unmarshal(data, found); err != nil {
		return nil, fmt.Errorf("decode ConfigMap: %w", err)
	}
	return found, nil
}

// loopbackDialer reaches loopback addresses only, and asks no name server: a wrong endpoint in bootstrap data must not
// make a simulated machine talk to a real one.
var loopbackDialer = &net.Dialer{
	Timeout: 5 * time.Second,
	Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}},
	Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().IsLoopback() {
			return fmt.Errorf("no route to host %s", strings.TrimSpace(address))
		}
		return nil
	},
}
