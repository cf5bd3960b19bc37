package cli

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/classes"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// world is an appliance over HTTPS, with two clusters in Git of which the management cluster runs the first, and a person at a terminal. Alice may do all
// with team-0/shop-0 and see nothing else; frank has a second factor; root may do everything.
type world struct {
	*testing.T
	url, ca    string
	session    string // the session's file
	bare       string
	management kube.WithWatch
	away       atomic.Bool       // nothing but a proxy answers
	typed      map[string]string // what the person types, by a part of what is asked
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, session: filepath.Join(t.TempDir(), "settings", "session.json"), typed: map[string]string{}}
	inv, err := simulator.LoadInventory("lab")
	if err != nil {
		t.Fatal(err)
	}
	inv.Users = append(inv.Users, simulator.UserSpec{ID: "alice@pve", Password: "wonderland"},
		simulator.UserSpec{ID: "frank@pve", Password: "factor", TFA: &simulator.TFASpec{Recovery: []string{"aaaa-bbbb-cccc-dddd"}}})
	inv.ACLs = append(inv.ACLs, simulator.ACLSpec{Path: "/pool/kubehenge/team-0.shop-0", Roles: []string{"PVEVMAdmin"}, Users: []string{"alice@pve"}})
	px := simulator.Start(t, func(o *simulator.Options) { o.Inventory = inv })
	scheme, err := live.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	w.management = fake.NewClientBuilder().WithScheme(scheme).Build()
	dir := t.TempDir()
	w.bare = filepath.Join(dir, "git", "fleet.git")
	server, err := appliance.New(t.Context(), appliance.Options{Proxmox: proxmox.Options{URL: px.URL(), CA: px.CA()}, DataDir: dir, Management: w.management})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	w.begin()
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	go server.Run(ctx)
	over := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.away.Load() {
			http.Error(rw, "no upstream", http.StatusBadGateway)
			return
		}
		server.ServeHTTP(rw, r)
	}))
	t.Cleanup(over.Close)
	w.url, w.ca = over.URL, filepath.Join(t.TempDir(), "ca.pem")
	w.write(w.ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: over.Certificate().Raw})))
	return w
}

// begin commits two clusters, and has the agent run the first.
func (w *world) begin() {
	w.Helper()
	files := sample.Overlays(2)
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
	r, err := git.OpenBare(w.bare, "main")
	if err != nil {
		w.Fatal(err)
	}
	tip, err := r.CommitAndPush(context.Background(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: files, Message: "Begin", Author: git.Person{Name: "root@pam", Email: "root@pam"}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	fleet := &v1alpha1.Fleet{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.FleetName}}
	fleet.Status.Source = v1alpha1.SourceStatus{AppliedCommit: tip, Tip: tip, Message: "In step with main"}
	fleet.Status.Templates = []v1alpha1.Templates{{TagPrefix: "kubeadm-", Versions: []string{"v1.36.3", "v1.36.4"}}}
	claim := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "team-0", Name: "shop-0"}}
	claim.Status.Phase, claim.Status.Message, claim.Status.Version, claim.Status.Nodes.Ready = v1alpha1.PhaseRunning, "Running; 5 of 5 nodes ready", "v1.36.3", 5
	w.put(fleet, claim)
}

func (w *world) put(list ...kube.Object) {
	w.Helper()
	for _, o := range list {
		if err := w.management.Create(context.Background(), o); err != nil {
			w.Fatal(err)
		}
	}
}

// agent changes what the agent says of team-0/shop-0, and lets it apply the branch's tip.
func (w *world) agent(change func(*v1alpha1.ClusterClaimStatus)) {
	w.Helper()
	r, err := git.OpenBare(w.bare, "main")
	if err != nil {
		w.Fatal(err)
	}
	tip, err := r.Fetch(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	claim, fleet := &v1alpha1.ClusterClaim{}, &v1alpha1.Fleet{}
	ctx := context.Background()
	err = errors.Join(w.management.Get(ctx, kube.ObjectKey{Namespace: "team-0", Name: "shop-0"}, claim), w.management.Get(ctx, kube.ObjectKey{Name: v1alpha1.FleetName}, fleet))
	change(&claim.Status)
	fleet.Status.Source.AppliedCommit, fleet.Status.Source.Tip = tip, tip
	if err = errors.Join(err, w.management.Update(ctx, fleet), w.management.Update(ctx, claim)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(file, content string) string {
	w.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		w.Fatal(err)
	}
	return file
}

// ask is what the person at the terminal types.
func (w *world) ask(_ context.Context, prompt string, _ bool) (string, error) {
	for part, answer := range w.typed {
		if strings.Contains(prompt, part) {
			return answer, nil
		}
	}
	return "", errors.New("nobody is at the terminal: " + prompt)
}

// run runs a command line.
func (w *world) run(line ...string) (out, beside string, err error) {
	w.Helper()
	var stdout, stderr bytes.Buffer
	err = w.runTo(&stdout, &stderr, line...)
	return stdout.String(), stderr.String(), err
}

func (w *world) runTo(out, beside io.Writer, line ...string) error {
	t := &terms{ask: w.ask, now: time.Now, pause: 5 * time.Millisecond}
	root := &cobra.Command{Use: "kubehenge", SilenceUsage: true, SilenceErrors: true}
	get := &cobra.Command{Use: "get"}
	get.AddCommand(getClusters(t))
	root.AddCommand(append(commands(t), get)...)
	root.SetOut(out)
	root.SetErr(beside)
	root.SetArgs(append(line, "--session-file", w.session))
	return root.ExecuteContext(context.Background())
}

func (w *world) must(line ...string) string {
	w.Helper()
	out, beside, err := w.run(line...)
	if err != nil {
		w.Fatalf("kubehenge %s: %v\n%s%s", strings.Join(line, " "), err, out, beside)
	}
	return out
}

// login signs somebody in.
func (w *world) login(user, password string) {
	w.Helper()
	w.typed["Password of "+user] = password
	w.must("login", w.url, "--user", user, "--ca-file", w.ca)
}

// secret is a kubeconfig in the management cluster.
func secret(namespace, name, content string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{"value": []byte(content)}}
}
