package commit_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"kubehenge.dev/appliance/commit"
	"kubehenge.dev/appliance/review"
	"kubehenge.dev/classes"
	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/sample"
)

// world is a bare repository with three clusters and a Writer on a clone of it.
type world struct {
	*testing.T
	bare   string
	signer ssh.Signer
	*commit.Writer
}

func newWorld(t *testing.T, change ...func(map[string][]byte)) *world {
	t.Helper()
	bare, err := smarthttp.Init(t.TempDir(), "fleet.git", smarthttp.Rules{KeepHistory: true})
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, bare: bare, signer: signer}
	files := sample.Overlays(3)
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
	for _, f := range change {
		f(files)
	}
	w.push("Begin", files)
	w.Writer = w.writer()
	return w
}

// writer is a Writer on the bare repository.
func (w *world) writer() *commit.Writer {
	w.Helper()
	inPlace, err := git.OpenBare(w.bare, "main")
	if err != nil {
		w.Fatal(err)
	}
	made, err := commit.New(commit.Options{Repository: inPlace, Judge: review.New(nil), Signer: w.signer})
	if err != nil {
		w.Fatal(err)
	}
	return made
}

func (w *world) clone() *git.Repository {
	w.Helper()
	r, err := git.Open(context.Background(), git.Options{URL: w.bare})
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// push commits files as somebody else does.
func (w *world) push(subject string, files map[string][]byte) string {
	w.Helper()
	sha, err := w.clone().CommitAndPush(w.Context(), func(*git.Tree) (git.Change, error) {
		return git.Change{Files: files, Message: subject, Author: git.Person{Name: "Carol", Email: "carol@example.org"}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	return sha
}

// keepPushing is what somebody far away does who is outrun again and again by those beside the repository.
func (w *world) keepPushing(files map[string][]byte) {
	clone := w.clone()
	for {
		_, err := clone.CommitAndPush(w.Context(), func(*git.Tree) (git.Change, error) {
			return git.Change{Files: files, Message: "Push", Author: git.Person{Name: "Carol", Email: "carol@example.org"}}, nil
		})
		if !errors.Is(err, git.ErrNonFastForward) {
			if err != nil {
				w.Error(err)
			}
			return
		}
	}
}

func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.Command("git", append([]string{"-C", w.bare}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// read is a file at the tip.
func (w *world) read(file string) string { return w.git("show", "main:"+filepath.ToSlash(file)) + "\n" }

// person may do what is listed, as "VM.Allocate /pool/kubehenge"; a nil list is everything.
func person(name string, held ...string) commit.Person {
	return commit.Person{User: name + "@pve", Session: "s-" + name, May: func(_ context.Context, needs ...permission.Need) (permission.Answer, error) {
		return permission.Can(func(privilege, path string) bool {
			for _, h := range held {
				if h == privilege+" "+path {
					return true
				}
			}
			return held == nil
		}, needs), nil
	}}
}

var shop0 = commit.Cluster{Namespace: "team-0", Name: "shop-0"}
