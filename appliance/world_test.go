package appliance

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/classes"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// world is an appliance with two clusters: alice may do all with team-0/shop-0 and see nothing else, bob may look at all, and root may do everything.
type world struct {
	testing.TB
	clock   *testclock.FakeClock
	proxmox *simulator.Server
	server  *Server
	moved   int
	kube    client.WithWatch // the management cluster
}

var passwords = map[string]string{"alice@pve": "wonderland", "bob@pve": "builder", "root@pam": "kubehenge"}

func newWorld(t testing.TB) *world { return newWorldOf(t, 2) }

// newWorldOf is a world of so many clusters, with objects in the management cluster.
func newWorldOf(t testing.TB, clusters int, objects ...client.Object) *world {
	t.Helper()
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland"}, simulator.UserSpec{ID: "bob@pve", Password: "builder"})
	for i := 2; i < clusters; i++ {
		_, tag, _ := strings.Cut(sample.Folder(i), "/")
		inv.Pools = append(inv.Pools, simulator.PoolSpec{ID: "kubehenge/" + strings.ReplaceAll(tag, "/", ".")})
	}
	inv.ACLs = append(inv.ACLs,
		simulator.ACLSpec{Path: "/pool/kubehenge", Roles: []string{"PVEAuditor"}, Users: []string{"bob@pve"}},
		simulator.ACLSpec{Path: "/pool/kubehenge/team-0.shop-0", Roles: []string{"PVEVMAdmin"}, Users: []string{"alice@pve"}})
	w := &world{TB: t, clock: testclock.NewFakeClock(time.Now())}
	w.proxmox = simulator.Start(t, func(o *simulator.Options) { o.Inventory, o.Clock = inv, w.clock })
	scheme, err := live.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	w.kube = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	dir := t.TempDir()
	w.server, err = New(t.Context(), Options{Proxmox: proxmox.Options{URL: w.proxmox.URL(), CA: w.proxmox.CA()}, DataDir: dir,
		PublicURL: "https://kubehenge.example/", Clock: w.clock, Management: w.kube, Moved: func() { w.moved++ }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.server.Close() })
	w.begin(filepath.Join(dir, "git", "fleet.git"), clusters)
	return w
}

// begin commits the clusters, as an administrator's first push does.
func (w *world) begin(bare string, clusters int) {
	w.Helper()
	files := sample.Overlays(clusters)
	files[render.FleetFile] = []byte(sample.Fleet)
	entries, err := classes.Files.ReadDir("kubeadm-1")
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		if files["classes/kubeadm-1/"+e.Name()], err = classes.Files.ReadFile("kubeadm-1/" + e.Name()); err != nil {
			w.Fatal(err)
		}
	}
	r, err := git.OpenBare(bare, "main")
	if err != nil {
		w.Fatal(err)
	}
	_, err = r.CommitAndPush(context.Background(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: files, Message: "Begin", Author: git.Person{Name: "root@pam", Email: "root@pam"}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// browser is one person's.
type browser struct {
	*world
	cookie, csrf string
}

func (w *world) browser() *browser { return &browser{world: w} }

func (w *world) signedIn(user string) *browser {
	w.Helper()
	b := w.browser()
	status, body := b.call(http.MethodPost, "/api/session", map[string]string{"user": user, "password": passwords[user]})
	if status != http.StatusOK {
		w.Fatalf("%s does not get in: %d %v", user, status, body)
	}
	b.csrf, _ = body["csrf"].(string)
	return b
}

// send makes a request as the browser would.
func (b *browser) send(method, path string, body any) *httptest.ResponseRecorder {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	req := httptest.NewRequest(method, path, strings.NewReader(string(text)))
	req.RemoteAddr = "192.0.2.7:1234"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set(wire.CSRFHeader, b.csrf)
	if b.cookie != "" {
		req.Header.Set("Cookie", b.cookie)
	}
	rec := httptest.NewRecorder()
	b.server.ServeHTTP(rec, req)
	if set := rec.Header().Get("Set-Cookie"); strings.HasPrefix(set, "__Host-kubehenge=") {
		b.cookie, _, _ = strings.Cut(set, ";")
	}
	return rec
}

func (b *browser) call(method, path string, body any) (status int, answer map[string]any) {
	b.Helper()
	rec := b.send(method, path, body)
	if rec.Body.Len() > 0 {
		if err := json.Unmarshal(rec.Body.Bytes(), &answer); err != nil {
			b.Fatalf("%s %s: %d %s", method, path, rec.Code, rec.Body)
		}
	}
	return rec.Code, answer
}

// tip is the branch's newest commit.
func (w *world) tip() *git.Commit {
	w.Helper()
	r := w.server.git.Repository()
	sha, err := r.Fetch(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	c, err := r.Commit(sha)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

var shop0 = commit.Cluster{Namespace: "team-0", Name: "shop-0"}

// readFile reads a file of the data folder.
func (w *world) readFile(name string) string {
	w.Helper()
	content, err := os.ReadFile(filepath.Join(w.server.opts.DataDir, name))
	if err != nil {
		w.Fatal(err)
	}
	return string(content)
}
