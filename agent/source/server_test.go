package source_test

import (
	"context"
	"crypto/ed25519"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/agent/source"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

const patience = 30 * time.Second

// world is a real Git server that nudges a source, and somebody who writes.
type world struct {
	t      *testing.T
	server *httptest.Server
	source *source.Source
	writer *git.Repository
	nudge  string // the notify endpoint's address
	bare   string // the server's repository
}

var notifySecret = []byte("a secret of more than sixteen bytes")

func newWorld(t *testing.T, o source.Options) *world {
	t.Helper()
	w := &world{t: t}
	dir := t.TempDir()
	var err error
	if w.bare, err = smarthttp.Init(dir, "fleet.git", smarthttp.Rules{}); err != nil {
		t.Fatal(err)
	}
	h, err := smarthttp.New(smarthttp.Options{Dir: dir, AfterPush: func(smarthttp.Push) { w.notify() }})
	if err != nil {
		t.Fatal(err)
	}
	w.server = httptest.NewServer(h)
	t.Cleanup(func() { w.server.Close() })
	w.writer = w.clone(git.Options{})
	o.Poll = time.Hour // what happens in time is the nudges' doing
	w.source = source.New(w.clone(git.Options{Dir: filepath.Join(dir, "clone")}), o)
	endpoint := httptest.NewServer(source.NotifyHandler(func() ([]byte, error) { return notifySecret, nil }, w.source.Notify))
	t.Cleanup(endpoint.Close)
	w.nudge = endpoint.URL
	return w
}

func (w *world) clone(o git.Options) *git.Repository {
	w.t.Helper()
	o.URL = w.server.URL + "/fleet.git"
	r, err := git.Open(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) notify() {
	if err := source.SendNotify(context.WithoutCancel(w.t.Context()), http.DefaultClient, w.nudge, notifySecret); err != nil {
		w.t.Error(err)
	}
}

func (w *world) run() {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.source.Run(ctx) }()
	w.t.Cleanup(func() { cancel(); <-done })
}

func (w *world) write(content string, signer ssh.Signer) string {
	w.t.Helper()
	sha, err := w.writer.CommitAndPush(w.t.Context(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: map[string][]byte{"x": []byte(content)}, Message: content, Signer: signer,
			Author: git.Person{Name: "a", Email: "a@example.com"}}, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return sha
}

// force moves the server's main, and nudges as the server would after a push.
func (w *world) force(sha string) {
	w.t.Helper()
	ref := filepath.Join(w.bare, "refs", "heads", "main")
	if err := os.WriteFile(ref, []byte(sha+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.notify()
}

// until waits for a state of a reason.
func (w *world) until(reason source.Reason) source.State {
	w.t.Helper()
	end := time.After(patience)
	for {
		select {
		case s := <-w.source.States():
			if s.Reason == reason {
				return s
			}
		case <-end:
			w.t.Fatalf("the state %s does not come; it is %+v", reason, w.source.State())
		}
	}
}

func (w *world) revision() source.Revision {
	w.t.Helper()
	select {
	case r := <-w.source.Revisions():
		return r
	case <-time.After(patience):
		w.t.Fatalf("no revision comes; the state is %+v", w.source.State())
	}
	return source.Revision{}
}

func TestAForcePushIsRefusedAndTheAppliedCommitStaysInForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, source.Options{})
	base := w.write("base", nil)
	w.run()
	w.until(source.InStep)
	next := w.write("next", nil)
	if got := w.until(source.InStep); got.Applied != next {
		t.Fatalf("the state is %+v", got)
	}
	w.force(base)
	got := w.until(source.Rewritten)
	if got.Tip != base || got.Applied != next || !strings.Contains(got.Message, "--accept-rewrite="+base) {
		t.Errorf("the state is %+v", got)
	}
	if r := w.revision(); r.Commit != next {
		t.Errorf("the newest revision is %s", r.Commit)
	}
	w.force(next)
	w.until(source.InStep)
}

func TestAfterARestartTheAppliedTreeIsReadEvenWhenTheTipIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, source.Options{})
	base := w.write("base", nil)
	next := w.write("next", nil)
	w.run()
	w.until(source.InStep)
	w.revision()
	w.force(base)
	w.until(source.Rewritten)

	for name, dir := range map[string]string{"with its clone": filepath.Join(filepath.Dir(w.bare), "clone"), "with an empty folder": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			again := &world{t: t, server: w.server, nudge: w.nudge}
			again.source = source.New(again.clone(git.Options{Dir: dir}), source.Options{Poll: time.Hour, LastApplied: func() string { return next }})
			again.run()
			if got := again.until(source.Rewritten); got.Tip != base {
				t.Errorf("the state is %+v", got)
			}
			content, err := again.revision().Tree.ReadFile("x")
			if err != nil || string(content) != "next" {
				t.Errorf("the applied tree reads %q, %v", content, err)
			}
		})
	}
}

func TestAnUnsignedCommitIsRefusedAndASignedOneAfterItIsNot(t *testing.T) {
	t.Parallel()
	alice, signers := key(t)
	w := newWorld(t, source.Options{Signers: signers})
	base := w.write("base", alice)
	w.run()
	if got := w.until(source.InStep); got.SignedBy != "alice@ldap" {
		t.Errorf("the state is %+v", got)
	}
	unsigned := w.write("unsigned", nil)
	if got := w.until(source.Unsigned); got.Tip != unsigned || got.Applied != base {
		t.Errorf("the state is %+v", got)
	}
	if err := w.writer.PushVouch(t.Context(), unsigned, git.Person{Name: "server", Email: "s@example.com", When: time.Now()}, alice); err != nil {
		t.Fatal(err)
	}
	if got := w.until(source.InStep); got.Applied != unsigned || got.SignedBy != "alice@ldap" {
		t.Errorf("after somebody vouched the state is %+v", got)
	}
	signed := w.write("signed", alice)
	if got := w.until(source.InStep); got.Applied != signed {
		t.Errorf("the state is %+v", got)
	}
}

func TestARepositoryThatGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, source.Options{})
	base := w.write("base", nil)
	w.run()
	w.until(source.InStep)
	address, handler := w.server.Listener.Addr().String(), w.server.Config.Handler
	w.server.Close()
	w.notify()
	if got := w.until(source.Unreadable); got.Applied != base || !strings.Contains(got.Message, "stays in force") || got.Since.IsZero() {
		t.Errorf("the state is %+v", got)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	w.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}}
	w.server.Start()
	w.notify()
	w.until(source.InStep)
	next := w.write("next", nil)
	if got := w.until(source.InStep); got.Applied != next {
		t.Errorf("the state is %+v", got)
	}
}

func TestAPushIsInForceSoonAfterItsNudge(t *testing.T) {
	t.Parallel()
	w := newWorld(t, source.Options{})
	w.write("base", nil)
	w.run()
	w.revision()
	var total time.Duration
	const pushes = 5
	for i := range pushes {
		sha := w.write(strings.Repeat("x", i+1), nil)
		pushed := time.Now()
		if got := w.revision(); got.Commit != sha {
			t.Fatalf("the revision is %s, want %s", got.Commit, sha)
		}
		total += time.Since(pushed)
	}
	t.Logf("from the push's end to the revision: %v on average", total/pushes)
}

func key(t *testing.T) (ssh.Signer, func() (git.AllowedSigners, error)) {
	t.Helper()
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize))))
	if err != nil {
		t.Fatal(err)
	}
	list := "alice@ldap " + string(ssh.MarshalAuthorizedKey(s.PublicKey()))
	return s, func() (git.AllowedSigners, error) { return git.ParseAllowedSigners([]byte(list)) }
}
