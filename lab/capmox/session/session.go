// Package session answers with whose credentials a cluster's calls are made.
package session

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/pace"
)

// ErrNoCredentials says that neither the environment nor the cluster gives credentials.
var ErrNoCredentials = errors.New("No credentials found, ProxmoxCluster missing credentialsRef") //nolint:staticcheck // capmox's text

// Sessions makes clients. Where the environment gave credentials there is one for all, and a cluster's own
// are ignored (capmox pkg/scope/cluster.go).
type Sessions struct {
	Global *calls.Client // nil: each cluster has its own
	Client client.Client
	Pace   pace.Pace
	Clock  clock.Clock
}

// For returns the client for a cluster; without a global one it makes a new one each time, which costs a
// call of GET /version.
func (s *Sessions) For(ctx context.Context, cluster *infrav1.ProxmoxCluster) (*calls.Client, error) {
	if s.Global != nil {
		return s.Global, nil
	}
	if cluster.Spec.CredentialsRef == nil {
		return nil, ErrNoCredentials
	}
	secret := &corev1.Secret{}
	if err := s.Client.Get(ctx, SecretKey(cluster), secret); err != nil {
		return nil, fmt.Errorf("failed to get credentials secret: %w", err)
	}
	credentials, err := fromSecret(secret)
	if err != nil {
		return nil, err
	}
	return calls.Connect(ctx, credentials, s.Pace, s.Clock)
}

// SecretKey names the Secret of a cluster that has credentialsRef.
func SecretKey(cluster *infrav1.ProxmoxCluster) client.ObjectKey {
	key := client.ObjectKey{Namespace: cluster.Spec.CredentialsRef.Namespace, Name: cluster.Spec.CredentialsRef.Name}
	if key.Namespace == "" {
		key.Namespace = cluster.Namespace
	}
	return key
}

func fromSecret(secret *corev1.Secret) (calls.Credentials, error) {
	roots, err := Roots(secret.Data["root_ca"])
	if err != nil {
		return calls.Credentials{}, fmt.Errorf("root_ca of secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	insecure, told := secret.Data["insecure"]
	return calls.Credentials{
		URL:      string(secret.Data["url"]),
		Token:    string(secret.Data["token"]),
		Secret:   string(secret.Data["secret"]),
		Roots:    roots,
		Insecure: !told || slices.Contains([]string{"1", "on", "true", "yes", "y"}, strings.ToLower(string(insecure))),
	}, nil
}

// Roots are the system's certificates and these; nil, the system's alone, where these are empty.
func Roots(pem []byte) (*x509.CertPool, error) {
	if len(pem) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in it")
	}
	return roots, nil
}
