package git_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// server is a real Git server with one repository, fleet.git.
type server struct {
	t    *testing.T
	dir  string // the bare repository
	http *httptest.Server
}

func newServer(t *testing.T, rules smarthttp.Rules, o smarthttp.Options) *server {
	t.Helper()
	o.Dir = t.TempDir()
	dir, err := smarthttp.Init(o.Dir, "fleet.git", rules)
	if err != nil {
		t.Fatal(err)
	}
	h, err := smarthttp.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, http: httptest.NewServer(h)}
	t.Cleanup(s.http.Close)
	return s
}

func (s *server) url() string { return s.http.URL + "/fleet.git" }

// git runs the real program in the bare repository.
func (s *server) git(args ...string) string {
	s.t.Helper()
	return runGit(s.t, s.dir, args...)
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Real Git", "GIT_AUTHOR_EMAIL=git@example.com", "GIT_COMMITTER_NAME=Real Git", "GIT_COMMITTER_EMAIL=git@example.com"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func open(t *testing.T, o git.Options) *git.Repository {
	t.Helper()
	r, err := git.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

var alice = git.Person{Name: "alice@ldap", Email: "alice@ldap", When: time.Unix(1_800_000_000, 0).UTC()}

// write commits files and pushes them.
func write(t *testing.T, r *git.Repository, c git.Change) string {
	t.Helper()
	if c.Author.Name == "" {
		c.Author = alice
	}
	if c.Message == "" {
		c.Message = "Change"
	}
	sha, err := r.CommitFiles(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Push(t.Context(), sha); err != nil {
		t.Fatal(err)
	}
	return sha
}

func fetch(t *testing.T, r *git.Repository) string {
	t.Helper()
	tip, err := r.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tip
}

func text(pairs ...string) map[string][]byte {
	files := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = []byte(pairs[i+1])
	}
	return files
}

func newSigner(t *testing.T, seed byte) ssh.Signer {
	t.Helper()
	key := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize)))
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, r *git.Repository, sha, path string) string {
	t.Helper()
	tree, err := r.Tree(sha)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tree.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustWrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// allowed is a list of allowed signers with one key.
func allowed(principal string, signer ssh.Signer) []byte {
	return []byte(principal + " " + string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}
