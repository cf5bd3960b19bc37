package cluster

import (
	"context"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clusterInfoPath is what a joining machine reads before it has any credentials.
const clusterInfoPath = "/api/v1/namespaces/kube-public/configmaps/cluster-info"

// bootstrappers is the group of who comes with a bootstrap token.
const bootstrappers = "system:bootstrappers"

// Keys of a bootstrap token's Secret. Upstream:
// https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/#bootstrap-token-secret-format
const (
	tokenSecretPrefix = "bootstrap-token-"
	tokenSecretType   = "bootstrap.kubernetes.io/token"
	tokenIDKey        = "token-id"
	tokenSecretKey    = "token-secret"
	tokenExpiryKey    = "expiration"
	tokenUsageKey     = "usage-bootstrap-authentication"
)

// TokenPattern is the form of a bootstrap token: an ID and a secret.
var TokenPattern = regexp.MustCompile(`^([a-z0-9]{6})\.([a-z0-9]{16})$`)

// identity is who sent a request.
type identity struct {
	name   string
	groups []string
}

var errUnknown = errors.New("no valid credentials")

// authenticate accepts a client certificate that the cluster's CA signed, or a bootstrap token of the cluster.
func (c *Cluster) authenticate(r *http.Request) (identity, error) {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return c.authenticateToken(r.Context(), strings.TrimSpace(token))
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return identity{}, errUnknown
	}
	return c.authenticateCertificate(r.TLS.PeerCertificates)
}

func (c *Cluster) authenticateCertificate(chain []*x509.Certificate) (identity, error) {
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(c.spec.CA.Certificate)
	for _, certificate := range chain[1:] {
		intermediates.AddCert(certificate)
	}
	leaf := chain[0]
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: c.registry.clock.Now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return identity{}, err
	}
	return identity{name: leaf.Subject.CommonName, groups: leaf.Subject.Organization}, nil
}

func (c *Cluster) authenticateToken(ctx context.Context, token string) (identity, error) {
	parts := TokenPattern.FindStringSubmatch(token)
	if parts == nil {
		return identity{}, errUnknown
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: tokenSecretPrefix + parts[1]}
	if err := c.objects().Get(ctx, key, secret); err != nil {
		return identity{}, errUnknown
	}
	for _, check := range tokenChecks {
		if !check(secret, parts[1], parts[2], c.registry.clock.Now()) {
			return identity{}, errUnknown
		}
	}
	return identity{name: "system:bootstrap:" + parts[1], groups: []string{bootstrappers}}, nil
}

// tokenChecks must all hold for a Secret to vouch for a token.
var tokenChecks = []func(s *corev1.Secret, id, secret string, now time.Time) bool{
	func(s *corev1.Secret, _, _ string, _ time.Time) bool { return s.Type == tokenSecretType },
	func(s *corev1.Secret, _, _ string, _ time.Time) bool { return s.DeletionTimestamp == nil },
	func(s *corev1.Secret, id, _ string, _ time.Time) bool { return tokenValue(s, tokenIDKey) == id },
	func(s *corev1.Secret, _, secret string, _ time.Time) bool {
		return subtle.ConstantTimeCompare([]byte(tokenValue(s, tokenSecretKey)), []byte(secret)) == 1
	},
	func(s *corev1.Secret, _, _ string, _ time.Time) bool { return tokenValue(s, tokenUsageKey) == "true" },
	func(s *corev1.Secret, _, _ string, now time.Time) bool { return !tokenExpired(s, now) },
}

// tokenValue reads a key of a Secret in either of its two forms: the in-memory server keeps stringData as it came.
func tokenValue(s *corev1.Secret, key string) string {
	if value, ok := s.Data[key]; ok {
		return string(value)
	}
	return s.StringData[key]
}

func tokenExpired(s *corev1.Secret, now time.Time) bool {
	expiry := tokenValue(s, tokenExpiryKey)
	if expiry == "" {
		return false
	}
	at, err := time.Parse(time.RFC3339, expiry)
	return err != nil || now.After(at)
}

// readableByBootstrappers are the objects that kubeadm lets a joining machine read.
var readableByBootstrappers = []*regexp.Regexp{
	regexp.MustCompile(`^/api/v1/nodes(/[^/]+)?$`),
	regexp.MustCompile(`^/api/v1/namespaces/kube-system/configmaps/(kubeadm-config|kubelet-config|kube-proxy)$`),
}

// forbidden says why the identity may not make a request, or nothing. Certificates may do everything, as the in-memory
// server knows no roles; bootstrap tokens only what a joining machine needs.
func (i identity) forbidden(r *http.Request) string {
	for _, group := range i.groups {
		if group != bootstrappers {
			continue
		}
		if r.Method == http.MethodGet && readable(r.URL.Path) {
			return ""
		}
		return "User \"" + i.name + "\" cannot " + strings.ToLower(r.Method) + " " + r.URL.Path
	}
	return ""
}

func readable(path string) bool {
	for _, pattern := range readableByBootstrappers {
		if pattern.MatchString(path) {
			return true
		}
	}
	return false
}
