package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"kubehenge.dev/lab/pki"
)

var address = net.IPv4(127, 9, 0, 1)

func folder(t *testing.T) *pki.Folder {
	t.Helper()
	f, err := pki.Create(t.TempDir(), address, "https://127.9.0.1:6443")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestServersCertificatesAreGoodForTheLabsAddressOnly(t *testing.T) {
	f := folder(t)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(f.CA()) {
		t.Fatal("the CA is no PEM")
	}
	for _, name := range []string{pki.Etcd, pki.APIServer, pki.Git, "webhooks/tls"} {
		pair, err := tls.LoadX509KeyPair(f.Cert(name), f.Key(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: address.String()}); err != nil {
			t.Errorf("%s at the lab's address: %v", name, err)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "127.8.0.1"}); err == nil {
			t.Errorf("%s is good for another lab's address", name)
		}
	}
}

func TestAProviderIsTakenForItsServiceAccount(t *testing.T) {
	path, err := folder(t).ServiceAccountKubeconfig("core", "capi-system", "capi-manager")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(config.CertData)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if got := certificate.Subject.CommonName; got != "system:serviceaccount:capi-system:capi-manager" {
		t.Errorf("its name is %q", got)
	}
	for _, group := range certificate.Subject.Organization {
		if group == "system:masters" {
			t.Error("it may do everything")
		}
	}
}

func TestKeysAreReadableByTheirOwnerOnly(t *testing.T) {
	f := folder(t)
	for _, path := range []string{f.Key(pki.APIServer), f.ServiceAccountKey(), f.Key("webhooks/tls")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
}
