package githttp_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"k8s.io/utils/clock"

	"kubehenge.dev/appliance/audit"
	"kubehenge.dev/appliance/githttp"
	"kubehenge.dev/appliance/review"
	"kubehenge.dev/appliance/signin"
	view "kubehenge.dev/appliance/view/permission"
	"kubehenge.dev/classes"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/sample"
)

// The people: root may do all, alice what a user of the platform may, bob only look, eve nothing, and frank has a second factor.
var people = map[string]string{"alice@pve": "wonderland", "bob@pve": "builder", "eve@pve": "dropping", "frank@pve": "factor", "root@pam": "kubehenge"}

// world is a served repository with two clusters, team-0/shop-0 and team-0/shop-1; alice may change the first.
type world struct {
	*testing.T
	proxmox *simulator.Server
	server  *httptest.Server
	handler *githttp.Handler
	audit   *audit.Log
	clock   *audited
	signer  ssh.Signer
	moved   atomic.Int32
	dir     string
}

// audited is the audit log's clock; then is called when something is about to be recorded.
type audited struct {
	clock.RealClock
	then func()
}

func (a *audited) Now() time.Time {
	if a.then != nil {
		a.then()
	}
	return a.RealClock.Now()
}

func inventory(t *testing.T) *simulator.Inventory {
	t.Helper()
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	for user, password := range people {
		if user == "root@pam" {
			continue // the lab has one
		}
		spec := simulator.UserSpec{ID: user, Password: password}
		if user == "frank@pve" {
			spec.TFA = &simulator.TFASpec{TOTP: "JBSWY3DPEHPK3PXP"}
		}
		if user == "alice@pve" {
			spec.Tokens = []simulator.TokenSpec{{ID: "ci", Secret: "5fa0cf55-7d1c-4a4e-9d0b-6c1f7e1a0caa", Full: true}}
		}
		inv.Users = append(inv.Users, spec)
	}
	inv.ACLs = append(inv.ACLs,
		simulator.ACLSpec{Path: "/pool/kubehenge", Roles: []string{"PVEAuditor"}, Users: []string{"alice@pve", "bob@pve"}},
		simulator.ACLSpec{Path: "/pool/kubehenge/team-0.shop-0", Roles: []string{"PVEVMAdmin"}, Users: []string{"alice@pve"}})
	return inv
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir(), clock: &audited{}}
	inv := inventory(t)
	w.proxmox = simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv })
	var err error
	if w.signer, err = ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))); err != nil {
		t.Fatal(err)
	}
	if w.audit, err = audit.Open(filepath.Join(w.dir, "audit.jsonl"), w.clock); err != nil {
		t.Fatal(err)
	}
	w.start()
	first := w.checkout("root@pam", "kubehenge")
	files := sample.Overlays(2)
	files[render.FleetFile] = []byte(sample.Fleet)
	entries, err := classes.Files.ReadDir("kubeadm-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if files["classes/kubeadm-1/"+e.Name()], err = classes.Files.ReadFile("kubeadm-1/" + e.Name()); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		first.write(name, string(content))
	}
	first.must("commit", "-q", "-m", "Begin")
	first.must("push", "-q", "origin", "main")
	return w
}

func (w *world) start() {
	w.Helper()
	var err error
	w.handler, err = githttp.New(w.Context(), githttp.Options{
		Dir:    filepath.Join(w.dir, "git"),
		Keeper: signin.New(signin.Options{Proxmox: proxmox.Options{URL: w.proxmox.URL(), CA: w.proxmox.CA()}}),
		Book:   view.NewBook(clock.RealClock{}, nil), Judge: review.New(nil), Place: w.place, Signer: w.signer, ReaderTokenFile: filepath.Join(w.dir, "reader"),
		By: git.Person{Name: "Kubehenge", Email: "kubehenge@localhost"}, Audit: w.audit, Moved: func() { w.moved.Add(1) },
	})
	if err != nil {
		w.Fatal(err)
	}
	w.server = httptest.NewServer(w.handler)
	w.Cleanup(w.server.Close)
}

func (w *world) place(ctx context.Context) (permission.Place, error) {
	if _, err := w.handler.Repository().Fetch(ctx); err != nil {
		return permission.Place{}, err
	}
	return permission.Place{WorkloadPool: "kubehenge"}, nil
}

func (w *world) bare(args ...string) string {
	w.Helper()
	out, err := run(filepath.Join(w.dir, "git", githttp.Name), args...)
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// checkout is somebody's working folder.
type checkout struct {
	*testing.T
	dir string
}

func run(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func (w *world) address(user, password string) string {
	u, err := url.Parse(w.server.URL + githttp.Prefix + "/" + githttp.Name)
	if err != nil {
		w.Fatal(err)
	}
	if user != "" {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}

// checkout is somebody's empty folder on the repository's branch.
func (w *world) checkout(user, password string) checkout {
	w.Helper()
	c := checkout{w.T, w.TempDir()}
	c.must("init", "-q", "-b", "main")
	c.must("remote", "add", "origin", w.address(user, password))
	return c
}

// clone is somebody's clone.
func (w *world) clone(user string) checkout {
	w.Helper()
	c := w.checkout(user, people[user])
	c.must("pull", "-q", "origin", "main")
	return c
}

func (c checkout) must(args ...string) string {
	c.Helper()
	out, err := run(c.dir, args...)
	if err != nil {
		c.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func (c checkout) write(name, content string) {
	c.Helper()
	file := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		c.Fatal(err)
	}
	c.must("add", name)
}

// replace edits a file and commits.
func (c checkout) replace(name, old, new string) {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(name)))
	if err != nil || !strings.Contains(string(content), old) {
		c.Fatalf("%s does not hold %q: %v", name, old, err)
	}
	c.write(name, strings.Replace(string(content), old, new, 1))
	c.must("commit", "-q", "-m", "Change "+name)
}

// push gives the lines that the server said, and whether the push was taken.
func (c checkout) push(args ...string) (said []string, taken bool) {
	c.Helper()
	out, err := run(c.dir, append([]string{"push", "origin"}, args...)...)
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(strings.TrimRight(line, " \n"), "remote: "); ok {
			said = append(said, rest)
		}
	}
	return said, err == nil
}
