package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	caYears   = 10
	leafYears = 1
	// backdated covers clocks that differ a little.
	backdated = time.Hour
)

// Authority is a CA.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	pem         []byte
}

// Leaf says what a certificate is for. It is good for clients and servers alike.
type Leaf struct {
	// CommonName is the user's name for Kubernetes, Organizations its groups.
	CommonName    string
	Organizations []string
	// DNSNames and IPs are what a server is reached by.
	DNSNames []string
	IPs      []net.IP
}

// Pair is a certificate and its key, both in PEM.
type Pair struct{ Certificate, Key []byte }

// NewAuthority makes a CA with a new ECDSA P-256 key, valid for ten years.
func NewAuthority(commonName string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the CA's key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: commonName},
		NotBefore:             time.Now().Add(-backdated),
		NotAfter:              time.Now().AddDate(caYears, 0, 0),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the CA's certificate: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the CA's certificate back: %w", err)
	}
	return &Authority{certificate: certificate, key: key, pem: encode("CERTIFICATE", der)}, nil
}

// PEM is the CA's certificate.
func (a *Authority) PEM() []byte { return a.pem }

// Issue makes a certificate with a new ECDSA P-256 key, valid for a year.
func (a *Authority) Issue(leaf Leaf) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make the key of %s: %w", leaf.CommonName, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return Pair{}, fmt.Errorf("make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: leaf.CommonName, Organization: leaf.Organizations},
		NotBefore:    time.Now().Add(-backdated),
		NotAfter:     time.Now().AddDate(leafYears, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:     leaf.DNSNames,
		IPAddresses:  leaf.IPs,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign the certificate of %s: %w", leaf.CommonName, err)
	}
	encoded, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: encode("CERTIFICATE", der), Key: encoded}, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return encode("PRIVATE KEY", der), nil
}
