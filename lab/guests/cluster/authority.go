package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// leafLifetime is how long kubeadm's certificates last.
const leafLifetime = 365 * 24 * time.Hour

// apiServerNames are the names in kubeadm's API server certificate.
var apiServerNames = []string{
	"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
}

// Authority is a certificate authority with its key.
type Authority struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
	PEM         []byte // of the certificate
}

// ErrKeyMismatch says that a CA's key is not the one its certificate was made for.
var ErrKeyMismatch = errors.New("certificate and private key do not match")

// ParseAuthority reads a CA's certificate and key, and checks that it is a CA, valid now, and that they belong together.
func ParseAuthority(certificatePEM, keyPEM []byte, now time.Time) (Authority, error) {
	certificate, err := parseCertificate(certificatePEM)
	if err != nil {
		return Authority{}, err
	}
	if !certificate.IsCA {
		return Authority{}, errors.New("certificate is not a CA")
	}
	if now.Before(certificate.NotBefore) || now.After(certificate.NotAfter) {
		return Authority{}, fmt.Errorf("certificate is not valid at %s", now.UTC().Format(time.RFC3339))
	}
	key, err := parseKey(keyPEM)
	if err != nil {
		return Authority{}, err
	}
	public, ok := certificate.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(key.Public()) {
		return Authority{}, ErrKeyMismatch
	}
	return Authority{Certificate: certificate, Key: key, PEM: certificatePEM}, nil
}

func parseCertificate(data []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("no PEM certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

func parseKey(data []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, errors.New("no PEM private key")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse private key: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("private key of type %T cannot sign", key)
	}
	return signer, nil
}

// SameKey says whether two authorities have one public key.
func (a Authority) SameKey(b Authority) bool {
	return a.PublicKeyHash() == b.PublicKeyHash()
}

// PublicKeyHash is the pin of the CA as kubeadm writes it: "sha256:" and the hex digest of its public key.
func (a Authority) PublicKeyHash() string { return PublicKeyHash(a.Certificate) }

// PublicKeyHash is the pin of a certificate. Upstream: kubernetes, cmd/kubeadm/app/util/pubkeypin
func PublicKeyHash(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// leafKey is the key of every certificate this process issues: a key of its own for each would only cost time.
var leafKey = sync.OnceValues(func() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) })

// servingSubject is a certificate for a server at host and localhost, that etcd members may use as clients too.
func servingSubject(commonName, host string, names ...string) *x509.Certificate {
	addresses := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if ip := net.ParseIP(host); ip != nil {
		addresses = append(addresses, ip)
	}
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: commonName},
		DNSNames:    names,
		IPAddresses: addresses,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

// issue signs a certificate made from the template, valid from shortly before now for a year.
func (a Authority) issue(now time.Time, template *x509.Certificate) (*tls.Certificate, error) {
	key, err := leafKey()
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make serial number: %w", err)
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = now.Add(-5*time.Minute), now.Add(leafLifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, key.Public(), a.Key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate %s: %w", template.Subject.CommonName, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
