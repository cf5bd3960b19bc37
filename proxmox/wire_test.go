package proxmox_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"kubehenge.dev/proxmox"
)

const (
	secret = "11111111-2222-3333-4444-555555555555"
	user   = "kubehenge-agent@pve!agent"
)

// wire is a TLS server that writes answers byte by byte, since net/http's server cannot write reason phrases.
type wire struct {
	url string
	ca  []byte

	mu    sync.Mutex
	calls []call
}

type call struct{ method, uri, authorization, body string }

func (w *wire) seen() []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]call(nil), w.calls...)
}

// listen answers each request with what answer gives back for it; n counts requests from 0. An empty answer closes
// the connection.
func listen(t *testing.T, answer func(n int, c call) string) *wire {
	t.Helper()
	certificate, ca := selfSigned(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	w := &wire{url: "https://" + l.Addr().String() + "/api2/json", ca: ca}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go w.serve(conn, answer)
		}
	}()
	return w
}

func (w *wire) serve(conn net.Conn, answer func(n int, c call) string) {
	defer conn.Close()
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	body, _ := io.ReadAll(req.Body)
	c := call{method: req.Method, uri: req.URL.RequestURI(), authorization: req.Header.Get("Authorization"), body: string(body)}
	w.mu.Lock()
	n := len(w.calls)
	w.calls = append(w.calls, c)
	w.mu.Unlock()
	io.WriteString(conn, answer(n, c))
}

// ok is a success of Proxmox VE's with the data.
func ok(data string) string { return status("200 OK", `{"data":`+data+`}`) }

// status is an answer with a status line and a body; every connection serves one request.
func status(line, body string) string {
	return "HTTP/1.1 " + line + "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + body
}

func always(answer string) func(int, call) string {
	return func(int, call) string { return answer }
}

// connect is a client of w.
func (w *wire) connect(t *testing.T, change ...func(*proxmox.Options)) *proxmox.Client {
	t.Helper()
	o := proxmox.Options{URL: w.url, TokenID: user, Secret: secret, CA: w.ca, Timeout: 5 * time.Second, Clock: instant{}}
	for _, f := range change {
		f(&o)
	}
	c, err := proxmox.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func selfSigned(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// trusting is a plain HTTP client that trusts the CA.
func trusting(ca []byte) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
}
