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

func TestAChangeDoesWhatItSaysAndNothingElse(t *testing.T) {
	before := text("clusters/a/x", "1", "clusters/a/y", "1", "clusters/b/x", "1", "fleet.yaml", "1", "a-b", "1", "a/z", "1")
	cases := map[string]struct {
		files map[string][]byte
		want  string // real git's listing afterwards
		err   error
	}{
		"a file is added":                     {files: text("clusters/c/d/e", "2"), want: "a/z a-b clusters/a/x clusters/a/y clusters/b/x clusters/c/d/e fleet.yaml"},
		"a file is deleted":                   {files: map[string][]byte{"clusters/a/x": nil}, want: "a/z a-b clusters/a/y clusters/b/x fleet.yaml"},
		"a folder that is left empty goes":    {files: map[string][]byte{"clusters/b/x": nil}, want: "a/z a-b clusters/a/x clusters/a/y fleet.yaml"},
		"a folder is deleted":                 {files: map[string][]byte{"clusters": nil}, want: "a/z a-b fleet.yaml"},
		"a folder is replaced":                {files: map[string][]byte{"clusters/a": nil, "clusters/a/new": []byte("2")}, want: "a/z a-b clusters/a/new clusters/b/x fleet.yaml"},
		"a folder is moved":                   {files: map[string][]byte{"clusters/b": nil, "moved/b/x": []byte("1")}, want: "a/z a-b clusters/a/x clusters/a/y fleet.yaml moved/b/x"},
		"what is missing is deleted":          {files: map[string][]byte{"nowhere/x": nil}, err: git.ErrNoChange},
		"the same content is written":         {files: text("fleet.yaml", "1"), err: git.ErrNoChange},
		"nothing is written":                  {err: git.ErrNoChange},
		"a path goes up":                      {files: text("../x", "2"), err: fs.ErrInvalid},
		"a path is absolute":                  {files: text("/x", "2"), err: fs.ErrInvalid},
		"a path is in git's own folder":       {files: text("a/.Git/config", "2"), err: fs.ErrInvalid},
		"the root is written":                 {files: text(".", "2"), err: fs.ErrInvalid},
		"a backslash is in the path":          {files: text(`a\..\b`, "2"), err: fs.ErrInvalid},
		"a file becomes a folder":             {files: text("fleet.yaml/x", "2"), err: errAny},
		"a folder becomes a file":             {files: text("clusters", "2"), err: errAny},
		"a path is written and written below": {files: text("n", "2", "n/m", "2"), err: errAny},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			r := open(t, git.Options{URL: "http://127.0.0.1:1/fleet.git"})
			base := commit(t, r, "", before)
			sha, err := r.CommitFiles(t.Context(), git.Change{Files: c.files, Message: "Change", Author: alice, Parent: base})
			if c.err != nil {
				if err == nil || c.err != errAny && !errors.Is(err, c.err) {
					t.Fatalf("CommitFiles says %v, want %v", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, strings.Join(list(t, r, sha, "."), " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var errAny = errors.New("any error")

func commit(t *testing.T, r *git.Repository, parent string, files map[string][]byte) string {
	t.Helper()
	sha, err := r.CommitFiles(t.Context(), git.Change{Files: files, Message: "Change", Author: alice, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	return sha
}

// list gives all files below a folder, in the tree's order.
func list(t *testing.T, r *git.Repository, sha, dir string) (files []string) {
	t.Helper()
	tree, err := r.Tree(sha)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := tree.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := strings.TrimPrefix(dir+"/"+e.Name(), "./")
		if e.IsDir() {
			files = append(files, list(t, r, sha, path)...)
			continue
		}
		files = append(files, path)
	}
	return files
}

func TestModesStayAndLinksAreNotWrittenThrough(t *testing.T) {
	t.Parallel()
	r, tree := oddTree(t)
	sha, err := r.CommitFiles(t.Context(), git.Change{Files: text("big", "small now"), Message: "Change", Author: alice})
	if err != nil {
		t.Fatal(err)
	}
	now, err := r.Tree(sha)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := now.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != 0o755 || info.Size() != 9 {
		t.Errorf("big is %v, %v", info, err)
	}
	for path, want := range map[string]error{"link": git.ErrLink, "link/x": git.ErrLink, "module/x": git.ErrSubmodule} {
		if _, err := r.CommitFiles(t.Context(), git.Change{Files: text(path, "2"), Message: "Change", Author: alice, Parent: tree.Commit()}); !errors.Is(err, want) {
			t.Errorf("writing %s says %v, want %v", path, err, want)
		}
	}
}

func TestACommitNeedsAnAuthorAndAMessage(t *testing.T) {
	r := open(t, git.Options{URL: "http://127.0.0.1:1/fleet.git"})
	for what, c := range map[string]git.Change{
		"no author":        {Message: "Change"},
		"no address":       {Message: "Change", Author: git.Person{Name: "alice"}},
		"no message":       {Message: " \n", Author: alice},
		"no text":          {Message: "a\x00b", Author: alice},
		"an unknown place": {Message: "Change", Author: alice, Parent: strings.Repeat("a", 40)},
		"a short place":    {Message: "Change", Author: alice, Parent: "abc"},
	} {
		c.Files = text("a", "1")
		if sha, err := r.CommitFiles(t.Context(), c); err == nil {
			t.Errorf("%s: committed as %s", what, sha)
		}
	}
}

func TestASignedCommitIsVerifiedByWhoFetchesIt(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	signer := newSigner(t, 'k')
	w := open(t, git.Options{URL: s.url()})
	sha := write(t, w, git.Change{Files: text("a", "1"), Message: "Subject\n\nBody\n", Signer: signer,
		Author: git.Person{Name: "evil\n<name>", Email: "evil@example.com>", When: alice.When}, Committer: alice})
	s.git("fsck", "--strict", "--full")
	r := open(t, git.Options{URL: s.url()})
	fetch(t, r)
	c, err := r.Commit(sha)
	if err != nil {
		t.Fatal(err)
	}
	if c.Author.Name != "evilname" || c.Committer != alice && c.Committer.Name != alice.Name {
		t.Errorf("the commit's people are %+v and %+v", c.Author, c.Committer)
	}
	signers, err := git.ParseAllowedSigners(allowed("alice@ldap", signer))
	if err != nil {
		t.Fatal(err)
	}
	if who, err := signers.Verify(c); who != "alice@ldap" || err != nil {
		t.Errorf("Verify = %q, %v", who, err)
	}
}

func TestAWordForATipIsFetchedWithIt(t *testing.T) {
	t.Parallel()
	s := newServer(t, smarthttp.Rules{}, smarthttp.Options{})
	w, r := open(t, git.Options{URL: s.url()}), open(t, git.Options{URL: s.url(), Dir: filepath.Join(t.TempDir(), "c")})
	sha := write(t, w, git.Change{Files: text("a", "1")})
	if v, err := r.Vouch(fetch(t, r)); v != nil || err != nil {
		t.Errorf("before there is a word: %v, %v", v, err)
	}
	signer := newSigner(t, 'k')
	for range 2 { // a second time changes nothing
		if err := w.PushVouch(t.Context(), sha, alice, signer); err != nil {
			t.Fatal(err)
		}
	}
	v, err := r.Vouch(fetch(t, r))
	if err != nil || v == nil {
		t.Fatalf("Vouch = %v, %v", v, err)
	}
	signers, err := git.ParseAllowedSigners(allowed("server", signer))
	if err != nil {
		t.Fatal(err)
	}
	if who, err := signers.VerifyVouch(v); who != "server" || err != nil || v.Commit != sha {
		t.Errorf("VerifyVouch = %q, %v", who, err)
	}
	write(t, w, git.Change{Files: text("a", "2")})
	if v, err := r.Vouch(fetch(t, r)); v != nil || err != nil {
		t.Errorf("the next tip has a word too: %v, %v", v, err)
	}
}
