package lab_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab"
)

// world is one lab and a person's clone of its repository.
type world struct {
	lab       *lab.Lab
	kube      client.WithWatch
	clone     *clone
	sentences *sentences
	// kept are claims that are in Git no more while their clusters run on, by tag.
	kept map[string]*v1alpha1.ClusterClaim
	// lost is the VMID of a VM that was made to belong to nobody; 0 for none.
	lost int
}

// mainLoopIndex is the lab of this test, apart from a person's own.
const mainLoopIndex = 31

// startWorld starts a lab whose repository takes every push and whose agent takes signed commits only, and clones it.
func startWorld(t *testing.T, o lab.Options) *world {
	t.Helper()
	dir := t.TempDir()
	key := filepath.Join(dir, "alice")
	run(t, os.Environ(), "", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "alice@example.org", "-f", key)
	private, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	o.Signer, o.WithoutAppliance = signer, true
	l := startLab(t, o) // in its own folder, whose logs stay
	w := &world{lab: l, kube: kubeClient(t, l.Kubeconfig), kept: map[string]*v1alpha1.ClusterClaim{}}
	w.clone = newClone(t, repositoryWithPassword(t, l), l.GitCA(), key)
	w.sentences = listen(t, w.kube)
	return w
}

// startLab starts a lab that ends with the test.
func startLab(t *testing.T, o lab.Options) *lab.Lab {
	t.Helper()
	o.Out = testWriter{t}
	l, err := lab.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start the lab: %v", err)
	}
	t.Cleanup(l.Stop)
	return l
}

func repositoryWithPassword(t *testing.T, l *lab.Lab) string {
	t.Helper()
	u, err := url.Parse(l.RepositoryURL())
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(l.GitUser(), l.GitPassword())
	return u.String()
}

// scenario is one part of a test that goes on from where the one before ended.
type scenario[W any] struct {
	name string
	run  func(*testing.T, W)
}

// play runs scenarios in their order, and what is to hold after each of them. It ends with the first that fails, and
// tells what a person would look at.
func play[W interface{ tellState(*testing.T) }](t *testing.T, w W, scenarios []scenario[W], after ...func(W, *testing.T)) {
	t.Helper()
	for _, s := range scenarios {
		ok := t.Run(s.name, func(t *testing.T) {
			s.run(t, w)
			for _, hold := range after {
				hold(w, t)
			}
		})
		if !ok {
			w.tellState(t)
			t.FailNow()
		}
	}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

func kubeClient(t *testing.T, kubeconfig string) client.WithWatch {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	cfg.QPS, cfg.Burst = 100, 200
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, clusterv1.AddToScheme, v1alpha1.AddToScheme, admissionv1.AddToScheme, apiextensionsv1.AddToScheme, runtimev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.NewWithWatch(cfg, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// until asks check every 200 ms until it returns "", and fails the test with what it returned last when it takes
// longer than limit.
func until(t *testing.T, limit time.Duration, what string, check func() string) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		missing := check()
		if missing == "" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("%s: after %s still: %s", what, limit, missing)
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		}
	}
}

// claim returns the live claim, or one without status while there is none.
func (w *world) claim(t *testing.T, namespace, name string) *v1alpha1.ClusterClaim {
	t.Helper()
	c := &v1alpha1.ClusterClaim{}
	err := w.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, c)
	if client.IgnoreNotFound(err) != nil {
		return &v1alpha1.ClusterClaim{Status: v1alpha1.ClusterClaimStatus{Message: err.Error()}}
	}
	return c
}

func (w *world) fleet(t *testing.T) *v1alpha1.Fleet {
	t.Helper()
	f := &v1alpha1.Fleet{}
	if err := w.kube.Get(t.Context(), client.ObjectKey{Name: v1alpha1.FleetName}, f); err != nil {
		return &v1alpha1.Fleet{Status: v1alpha1.FleetStatus{Source: v1alpha1.SourceStatus{Message: err.Error()}}}
	}
	return f
}

// running waits until the claim runs with that many nodes.
func (w *world) running(t *testing.T, namespace, name string, nodes int32, limit time.Duration) {
	t.Helper()
	until(t, limit, fmt.Sprintf("%s/%s runs with %d nodes", namespace, name, nodes), func() string {
		s := w.claim(t, namespace, name).Status
		if s.Phase == v1alpha1.PhaseRunning && s.Nodes.Ready == nodes && s.Nodes.Wanted == nodes {
			return ""
		}
		return fmt.Sprintf("%s, %d of %d nodes: %s", s.Phase, s.Nodes.Ready, s.Nodes.Wanted, s.Message)
	})
}

// applied waits until the agent has accepted the commit.
func (w *world) applied(t *testing.T, commit string) {
	t.Helper()
	until(t, 30*time.Second, "the agent accepts "+commit, func() string {
		s := w.fleet(t).Status.Source
		if s.AppliedCommit == commit {
			return ""
		}
		return fmt.Sprintf("applied %s: %s", s.AppliedCommit, s.Message)
	})
}

// told waits until the Fleet's message about the repository holds words.
func (w *world) told(t *testing.T, words ...string) {
	t.Helper()
	until(t, 30*time.Second, fmt.Sprintf("the Fleet tells %q", words), func() string {
		msg := w.fleet(t).Status.Source.Message
		for _, word := range words {
			if !strings.Contains(msg, word) {
				return msg
			}
		}
		return ""
	})
}

// tellState prints what a person would look at first.
func (w *world) tellState(t *testing.T) {
	claims := &v1alpha1.ClusterClaimList{}
	if err := w.kube.List(context.WithoutCancel(t.Context()), claims); err != nil {
		t.Logf("list claims: %v", err)
	}
	for _, c := range claims.Items {
		t.Logf("claim %s/%s: %s: %s", c.Namespace, c.Name, c.Status.Phase, c.Status.Message)
	}
	t.Logf("logs are in %s", filepath.Join(w.lab.DataDir(), "logs"))
}

// sentences records every phase and message that any claim ever shows.
type sentences struct {
	mu   sync.Mutex
	seen []string
}

func listen(t *testing.T, kube client.WithWatch) *sentences {
	t.Helper()
	s := &sentences{}
	go func() {
		for t.Context().Err() == nil {
			s.watch(t.Context(), kube)
		}
	}()
	return s
}

// watch records until the watch ends, as it does when the API server is restarted.
func (s *sentences) watch(ctx context.Context, kube client.WithWatch) {
	events, err := kube.Watch(ctx, &v1alpha1.ClusterClaimList{})
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
		return
	}
	defer events.Stop()
	for e := range events.ResultChan() {
		if c, ok := e.Object.(*v1alpha1.ClusterClaim); ok && c.Status.Phase != "" {
			s.add(fmt.Sprintf("%s/%s %s: %s", c.Namespace, c.Name, c.Status.Phase, c.Status.Message))
		}
	}
}

func (s *sentences) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 || s.seen[len(s.seen)-1] != line {
		s.seen = append(s.seen, line)
	}
}

func (s *sentences) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

// checkSentences fails on a sentence that tells a person nothing.
func (w *world) checkSentences(t *testing.T) {
	all := w.sentences.all()
	if len(all) < 20 {
		t.Errorf("only %d sentences were seen", len(all))
	}
	for _, line := range all {
		t.Log(line)
		message := line[strings.Index(line, ": ")+2:]
		for _, bad := range []string{"reconcil", "failed to", "Reconcile", "nil", "UPID", "%!"} {
			if message == "" || strings.Contains(message, bad) {
				t.Errorf("no sentence for a person (%q): %s", bad, line)
			}
		}
	}
}
