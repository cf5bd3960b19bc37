package bootstrapdata

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// Client is a client certificate with its key, both PEM.
type Client struct{ Certificate, Key []byte }

// Sign makes a client certificate with one of the cluster's CAs.
func (c *Cluster) Sign(purpose secret.Purpose, name, group string) (Client, error) {
	pair := c.Certificates.GetByPurpose(purpose).KeyPair
	ca, err := certs.DecodeCertPEM(pair.Cert)
	if err != nil {
		return Client{}, fmt.Errorf("decode CA: %w", err)
	}
	caKey, err := certs.DecodePrivateKeyPEM(pair.Key)
	if err != nil {
		return Client{}, fmt.Errorf("decode CA key: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Client{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: name, Organization: []string{group}},
		NotBefore:    time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, key.Public(), caKey)
	if err != nil {
		return Client{}, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Client{}, err
	}
	return Client{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

// Admin is how Cluster API's own kubeconfig reaches the cluster.
func (c *Cluster) Admin() (*rest.Config, error) {
	client, err := c.Sign(secret.ClusterCA, "kubernetes-admin", "system:masters")
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: "https://" + c.Endpoint, Timeout: 10 * time.Second,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.Certificates.GetByPurpose(secret.ClusterCA).KeyPair.Cert, CertData: client.Certificate, KeyData: client.Key,
		},
	}, nil
}
