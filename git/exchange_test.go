package git_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

func TestACommitThatIsPushedIsWhatRealGitAndAnotherCloneRead(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	w := open(t, git.Options{URL: s.url()})
	first := write(t, w, git.Change{Files: text("clusters/a/shop/claim.yaml", "one\n", "clusters/fleet.yaml", "fleet\n")})
	second := write(t, w, git.Change{Files: text("clusters/a/shop/claim.yaml", "two\n", "clusters/a.yaml", "x")})

	if got := s.git("rev-parse", "main"); got != second {
		t.Errorf("the server's main is %s, want %s", got, second)
	}
	if got := s.git("show", "main:clusters/a/shop/claim.yaml"); got != "two" {
		t.Errorf("real git reads %q", got)
	}
	s.git("fsck", "--strict", "--full")
	r := open(t, git.Options{URL: s.url(), Dir: t.TempDir()})
	if got := fetch(t, r); got != second {
		t.Errorf("another clone fetches %s, want %s", got, second)
	}
	if got := read(t, r, first, "clusters/a/shop/claim.yaml"); got != "one\n" {
		t.Errorf("at the first commit the claim is %q", got)
	}
}

func TestAnUnchangedFetchIsOneRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	write(t, open(t, git.Options{URL: s.url()}), git.Change{Files: text("a", "1")})
	r := open(t, git.Options{URL: s.url()})
	fetch(t, r)
	var calls atomic.Int32
	inner := s.http.Config.Handler
	s.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		calls.Add(1)
		inner.ServeHTTP(w, req)
	})
	fetch(t, r)
	if calls.Load() != 1 {
		t.Errorf("%d requests, want 1", calls.Load())
	}
}

func TestAForcePushIsFetchedAndDoesNotDescend(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	w := open(t, git.Options{URL: s.url()})
	base := write(t, w, git.Change{Files: text("a", "1")})
	old := write(t, w, git.Change{Files: text("a", "2")})
	r := open(t, git.Options{URL: s.url(), Dir: t.TempDir()})
	fetch(t, r)

	other, err := w.CommitFiles(t.Context(), git.Change{Files: text("a", "3"), Message: "Rewrite", Author: alice, Parent: base})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Push(t.Context(), other); !errors.Is(err, git.ErrNonFastForward) {
		t.Errorf("a push that leaves history behind ends with %v", err)
	}
	checkout := t.TempDir()
	runGit(t, checkout, "clone", "-q", s.url(), ".")
	runGit(t, checkout, "reset", "-q", "--hard", base)
	mustWrite(t, filepath.Join(checkout, "a"), "4")
	runGit(t, checkout, "commit", "-qam", "Rewrite")
	runGit(t, checkout, "push", "-q", "--force")

	tip := fetch(t, r)
	if want := runGit(t, checkout, "rev-parse", "HEAD"); tip != want {
		t.Errorf("the tip is %s, want %s", tip, want)
	}
	for _, c := range []struct {
		newer, older string
		want         bool
	}{{tip, old, false}, {tip, base, true}, {old, base, true}, {base, old, false}, {tip, tip, true}, {tip, strings.Repeat("a", 40), false}} {
		if got, err := r.Descends(t.Context(), c.newer, c.older); err != nil || got != c.want {
			t.Errorf("Descends(%s, %s) = %v, %v; want %v", c.newer, c.older, got, err, c.want)
		}
	}
	if got := read(t, r, old, "a"); got != "2" {
		t.Errorf("the old commit reads %q after the rewrite", got)
	}
}

func TestWritersAtOnceAllGetThrough(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{KeepHistory: true}, smarthttp.Options{})
	const writers = 4
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			r := open(t, git.Options{URL: s.url()})
			_, err := r.CommitAndPush(t.Context(), func(*git.Tree) (git.Change, error) {
				name := string(rune('a' + i))
				return git.Change{Files: text(name, name), Message: "Add " + name, Author: alice}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := s.git("rev-list", "--count", "main"); got != "4" {
		t.Errorf("%s commits on main, want %d", got, writers)
	}
}

func TestACloneSurvivesARestartAndIsMadeAfreshWhenDamaged(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	sha := write(t, open(t, git.Options{URL: s.url()}), git.Change{Files: text("a", "1", "b/c", "2")})
	o := git.Options{URL: s.url(), Dir: filepath.Join(t.TempDir(), "clone")}
	fetch(t, open(t, o))

	again := open(t, o)
	if again.Tip() != sha || read(t, again, sha, "b/c") != "2" {
		t.Errorf("after a restart the tip is %q", again.Tip())
	}
	objects, err := filepath.Glob(filepath.Join(o.Dir, "objects", "??", "*"))
	if err != nil || len(objects) == 0 {
		t.Fatalf("no objects found: %v", err)
	}
	for _, path := range objects {
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damaged := open(t, o)
	if damaged.Tip() != "" {
		t.Errorf("a damaged clone is believed: tip %s", damaged.Tip())
	}
	if fetch(t, damaged) != sha || read(t, damaged, sha, "b/c") != "2" {
		t.Error("the clone was not made afresh")
	}
}

func TestAFolderThatHoldsSomethingElseIsNotTouched(t *testing.T) {
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "precious"), "x")
	_, err := git.Open(t.Context(), git.Options{URL: "http://127.0.0.1:1/fleet.git", Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("Open says %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "precious")); err != nil {
		t.Error(err)
	}
}

func TestARepositoryCanBeEmptiedAndFilledAgain(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	w, r := open(t, git.Options{URL: s.url()}), open(t, git.Options{URL: s.url()})
	write(t, w, git.Change{Files: text("clusters/a/x", "1")})
	empty := write(t, w, git.Change{Files: map[string][]byte{"clusters": nil}})
	fetch(t, r)
	if got := list(t, r, empty, "."); len(got) > 0 {
		t.Errorf("the emptied tree holds %v", got)
	}
	full := write(t, w, git.Change{Files: text("clusters/a/x", "2")})
	if fetch(t, r) != full || read(t, r, full, "clusters/a/x") != "2" {
		t.Error("the tree was not filled again")
	}
}
