package git_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/git"
	"kubehenge.dev/git/smarthttp"
)

// oddTree is a repository made by real git with a link, a submodule and an executable.
func oddTree(t *testing.T) (*git.Repository, *git.Tree) {
	t.Helper()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	dir := t.TempDir()
	runGit(t, dir, "init", "-q", "-b", "main")
	mustWrite(t, filepath.Join(dir, "clusters/a/claim.yaml"), "claim")
	mustWrite(t, filepath.Join(dir, "clusters/a.yaml"), "sorted differently by git")
	mustWrite(t, filepath.Join(dir, "big"), strings.Repeat("x", 2000))
	runGit(t, dir, "add", ".")
	runGit(t, dir, "update-index", "--chmod=+x", "big")
	link := runGit(t, dir, "hash-object", "-w", "clusters/a/claim.yaml")
	runGit(t, dir, "update-index", "--add", "--cacheinfo", "120000,"+link+",link")
	runGit(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
	runGit(t, dir, "commit", "-qm", "Odd things")
	runGit(t, dir, "push", "-q", s.url(), "main")
	r := open(t, git.Options{URL: s.url(), MaxFile: 1000})
	tree, err := r.Tree(fetch(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return r, tree
}

func TestAFolderIsListedByNameWithTypes(t *testing.T) {
	t.Parallel()
	_, tree := oddTree(t)
	for path, want := range map[string][]string{
		".":          {"big -rwxr-xr-x", "clusters drwxr-xr-x", "link Lrwxrwxrwx", "module ?---------"},
		"":           {"big -rwxr-xr-x", "clusters drwxr-xr-x", "link Lrwxrwxrwx", "module ?---------"},
		"clusters":   {"a drwxr-xr-x", "a.yaml -rw-r--r--"},
		"clusters/a": {"claim.yaml -rw-r--r--"},
	} {
		entries, err := tree.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Name()+" "+info.Mode().String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ReadDir(%q): %s", path, diff)
		}
	}
}

func TestOnlyFilesOfTheTreeAreRead(t *testing.T) {
	t.Parallel()
	_, tree := oddTree(t)
	for path, want := range map[string]error{
		"clusters/a/claim.yaml":     nil,
		"link":                      git.ErrLink,
		"link/x":                    git.ErrLink,
		"module":                    git.ErrSubmodule,
		"module/x":                  git.ErrSubmodule,
		"big":                       git.ErrTooLarge,
		"clusters":                  fs.ErrInvalid,
		"":                          fs.ErrInvalid,
		"missing":                   fs.ErrNotExist,
		"clusters/a/claim.yaml/x":   fs.ErrNotExist,
		"clusters/a/../a":           fs.ErrInvalid,
		"/clusters":                 fs.ErrInvalid,
		"../etc/passwd":             fs.ErrInvalid,
		"clusters//a":               fs.ErrInvalid,
		"clusters/a/claim.yaml\x00": fs.ErrNotExist,
	} {
		_, err := tree.ReadFile(path)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("ReadFile(%q) says %v, want %v", path, err, want)
		}
	}
	if _, err := tree.ReadDir("clusters/a.yaml"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("ReadDir of a file says %v", err)
	}
}

func TestDigestsAreEqualExactlyWhenContentIs(t *testing.T) {
	r := open(t, git.Options{URL: "http://127.0.0.1:1/fleet.git"})
	one := commit(t, r, "", text("a/x", "1", "b/x", "1", "c/x", "1"))
	two := commit(t, r, one, text("b/x", "2"))
	digest := func(sha, path string) string {
		tree, err := r.Tree(sha)
		if err != nil {
			t.Fatal(err)
		}
		d, err := tree.Digest(path)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if digest(one, "a") != digest(one, "b") || digest(one, "a/x") != digest(two, "c/x") || digest(one, "a") != digest(two, "a") {
		t.Error("equal content has different digests")
	}
	if digest(one, "b") == digest(two, "b") || digest(one, ".") == digest(two, ".") || digest(one, "b/x") == digest(two, "b/x") {
		t.Error("different content has equal digests")
	}
}

func TestARevisionIsResolvedInACheckoutInPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runGit(t, dir, "init", "-q", "-b", "main")
	mustWrite(t, filepath.Join(dir, "clusters/fleet.yaml"), "one")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "One")
	first := runGit(t, dir, "rev-parse", "HEAD")
	mustWrite(t, filepath.Join(dir, "clusters/fleet.yaml"), "two")
	runGit(t, dir, "commit", "-qam", "Two")

	r, err := git.OpenLocal(filepath.Join(dir, "clusters"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rev := range []string{"HEAD~1", "main~1", first, first[:10]} {
		sha, err := r.Resolve(rev)
		if err != nil || sha != first {
			t.Errorf("Resolve(%q) = %q, %v; want %s", rev, sha, err, first)
		}
	}
	if got := read(t, r, first, "clusters/fleet.yaml"); got != "one" {
		t.Errorf("the file reads %q", got)
	}
	if _, err := r.Resolve("nowhere"); !errors.Is(err, git.ErrUnknownCommit) {
		t.Errorf("Resolve of nothing says %v", err)
	}
	if _, err := r.Fetch(t.Context()); err == nil {
		t.Error("a repository opened in place was fetched")
	}
}
