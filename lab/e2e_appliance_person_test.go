package lab_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"

	pve "github.com/luthermonson/go-proxmox"

	"kubehenge.dev/lab"
)

// person is somebody who is signed in to the appliance, with a browser's cookies.
type person struct {
	client *http.Client
	url    string
	csrf   string
}

// newPerson has not signed in yet.
func (w *officeWorld) newPerson(t *testing.T) *person {
	t.Helper()
	ca, err := os.ReadFile(w.lab.GitCA())
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{url: w.lab.PageURL(), client: &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool(ca)}}}}
}

func pool(ca []byte) *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return roots
}

// signIn opens a session.
func (w *officeWorld) signIn(t *testing.T, a lab.Account) *person {
	t.Helper()
	p := w.newPerson(t)
	status, body := p.call(t, http.MethodPost, "/api/session", map[string]any{"user": a.User, "password": a.Password})
	if status != http.StatusOK {
		t.Fatalf("%s does not get in: %d %v", a.User, status, body)
	}
	p.csrf, _ = body["csrf"].(string)
	return p
}

// send makes a request and returns its answer.
func (p *person) send(t *testing.T, method, path string, body any) (int, []byte) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, p.url+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Kubehenge-CSRF", p.csrf)
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// call makes a request whose answer is JSON.
func (p *person) call(t *testing.T, method, path string, body any) (int, map[string]any) {
	t.Helper()
	status, text := p.send(t, method, path, body)
	answer := map[string]any{}
	if err := json.Unmarshal(text, &answer); len(text) > 0 && err != nil {
		t.Fatalf("%s %s: %d %s", method, path, status, text)
	}
	return status, answer
}

// must makes a request that goes well.
func (p *person) must(t *testing.T, method, path string, body any) map[string]any {
	t.Helper()
	status, answer := p.call(t, method, path, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %v", method, path, status, answer)
	}
	return answer
}

// refused makes a request that does not, for a reason that holds all words.
func (p *person) refused(t *testing.T, want int, method, path string, body any, words ...string) {
	t.Helper()
	status, text := p.send(t, method, path, body)
	if status != want {
		t.Errorf("%s %s: %d, not %d: %s", method, path, status, want, text)
	}
	for _, word := range words {
		if !strings.Contains(string(text), word) {
			t.Errorf("%s %s: the answer does not hold %q: %s", method, path, word, text)
		}
	}
}

// rootOf is Proxmox VE as its administrator reaches it, by go-proxmox.
func rootOf(t *testing.T, l *lab.Lab) *pve.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool(l.Proxmox.CA())}}
	return pve.NewClient(l.Proxmox.URL(), pve.WithHTTPClient(&http.Client{Transport: transport}),
		pve.WithCredentials(&pve.Credentials{Username: lab.Administrator.User, Password: lab.Administrator.Password}))
}

// newUser makes a user without any right.
func (w *officeWorld) newUser(t *testing.T, user string) lab.Account {
	t.Helper()
	a := lab.Account{User: user, Password: "a password of " + user}
	if err := w.root.Post(t.Context(), "/access/users", map[string]any{"userid": a.User, "password": a.Password}, nil); err != nil {
		t.Fatal(err)
	}
	return a
}
