package hooks

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/utils/clock"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"kubehenge.dev/api/v1alpha1"
)

// authority makes certificates for 127.0.0.1.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T, until time.Time) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return &authority{key, c}
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// write puts a serving certificate and the CA's own into a folder.
func (a *authority) write(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(7), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"ca.crt": a.pem(),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// serve runs a server and returns its address.
func serve(t *testing.T, dir string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	s, err := NewServer(Options{Listen: address, CertDir: dir, Clock: clock.RealClock{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	until(t, "the hooks are served", func() error { return s.StartedChecker()(nil) })
	return address
}

func until(t *testing.T, what string, done func() error) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// post asks a hook as Cluster API does, trusting one authority.
func post(address string, trusts *authority, hook runtimecatalog.Hook, name string, request, answer any) error {
	catalog := runtimecatalog.New()
	if err := hooksv1.AddToCatalog(catalog); err != nil {
		return err
	}
	gvh, err := catalog.GroupVersionHook(hook)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AddCert(trusts.cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport, Timeout: 5 * time.Second}).Post(
		"https://"+address+runtimecatalog.GVHToPath(gvh, name), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, data)
	}
	return json.Unmarshal(data, answer)
}

func TestTwoReplicasAnswerTheSame(t *testing.T) {
	dir, ca := t.TempDir(), newAuthority(t, time.Now().Add(time.Hour))
	ca.write(t, dir)
	q := topology(map[string]string{v1alpha1.OnlineNodesAnnotation: "pve3,pve1"}, nil)
	var answers []string
	for range 2 {
		var r hooksv1.GeneratePatchesResponse
		if err := post(serve(t, dir), ca, hooksv1.GeneratePatches, GeneratePatchesName, q, &r); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, fmt.Sprintf("%s %s", r.Status, r.Items[0].Patch))
	}
	if answers[0] != answers[1] || answers[0] != `Success [{"op":"add","path":"/spec/template/spec/allowedNodes","value":["pve1","pve3"]}]` {
		t.Errorf("answers %q", answers)
	}
}

func TestEveryHookIsDiscoveredAndAnswersAnEmptyRequest(t *testing.T) {
	dir, ca := t.TempDir(), newAuthority(t, time.Now().Add(time.Hour))
	ca.write(t, dir)
	address := serve(t, dir)
	var found hooksv1.DiscoveryResponse
	if err := post(address, ca, hooksv1.Discovery, "", &hooksv1.DiscoveryRequest{}, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Handlers) != len(handlers(nil)) || len(found.Handlers) != 5 {
		t.Errorf("found %v", found.Handlers)
	}
	for _, h := range handlers(nil) {
		var r hooksv1.CommonResponse
		if err := post(address, ca, h.Hook, h.Name, map[string]any{}, &r); err != nil || r.Status == "" {
			t.Errorf("%s: %+v, %v", h.Name, r, err)
		}
	}
}

func TestACertificateIsRotatedWithoutARestart(t *testing.T) {
	dir, old, next := t.TempDir(), newAuthority(t, time.Now().Add(time.Hour)), newAuthority(t, time.Now().Add(time.Hour))
	old.write(t, dir)
	address := serve(t, dir)
	call := func(trusts *authority) error {
		return post(address, trusts, hooksv1.Discovery, "", &hooksv1.DiscoveryRequest{}, &hooksv1.DiscoveryResponse{})
	}
	if err := call(old); err != nil {
		t.Fatal(err)
	}
	if err := call(next); err == nil {
		t.Fatal("a CA that has signed nothing is enough")
	}
	next.write(t, dir)
	until(t, "the new certificate is served", func() error { return call(next) })
}

func TestWhereHooksCannotBeServed(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1", "127.0.0.1:none", "127.0.0.1:0"} {
		if _, err := NewServer(Options{Listen: address}); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}
