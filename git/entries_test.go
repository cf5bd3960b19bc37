package git

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

func line(mode, name string) string { return mode + " " + name + "\x00" + strings.Repeat("h", 20) }

func TestFoldersThatGitWouldNotWriteAreMalformed(t *testing.T) {
	for what, content := range map[string]string{
		"a way up":            line("40000", ".."),
		"itself":              line("40000", "."),
		"git's folder":        line("40000", ".GIT"),
		"git's short name":    line("40000", "GIT~1"),
		"a slash":             line("100644", "a/b"),
		"a backslash":         line("100644", `a\b`),
		"no name":             line("100644", ""),
		"an unknown mode":     line("100000", "a"),
		"a padded mode":       line("040000", "a"),
		"the same name twice": line("100644", "a") + line("100644", "a"),
		"a file and a folder": line("100644", "a") + line("100644", "a.b") + line("40000", "a"),
		"a cut off hash":      line("100644", "a")[:20],
		"a cut off name":      "100644 a",
	} {
		if entries, err := parseTree([]byte(content)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: parseTree = %v, %v", what, entries, err)
		}
	}
}

func FuzzTree(f *testing.F) {
	f.Add([]byte(line("100644", "a")+line("40000", "b")), "b/x")
	f.Add([]byte(line("40000", "a")+line("100644", "a-b")), "../a")
	f.Add([]byte(line("120000", "a")), "a")
	f.Fuzz(func(t *testing.T, content []byte, path string) {
		entries, err := parseTree(content)
		if err != nil {
			return
		}
		again, err := parseTree(encodeTree(entries))
		if err != nil || len(again) != len(entries) {
			t.Errorf("what was read cannot be written and read again: %v", err)
		}
		for _, e := range entries {
			if utf8.ValidString(e.name) && !fs.ValidPath(e.name) || strings.ContainsAny(e.name, "/\\") {
				t.Errorf("the name %q was let through", e.name)
			}
		}
		r := &Repository{folders: newFolders()}
		root := plumbing.ComputeHash(plumbing.TreeObject, content)
		r.folders.add(root, entries)
		tree := &Tree{repo: r, root: root}
		if e, err := lookupOnly(tree, path); err == nil && path != "" && path != "." && !strings.HasSuffix(path, e.name) {
			t.Errorf("%q was found as %q", path, e.name)
		}
	})
}

// lookupOnly finds what needs no other folder than the root.
func lookupOnly(t *Tree, path string) (entry, error) {
	if strings.Count(path, "/") > 0 && fs.ValidPath(path) {
		return entry{}, fs.ErrNotExist
	}
	return t.lookup(path)
}

func TestTheFolderCacheForgetsWhatWasUsedLongestAgo(t *testing.T) {
	f := newFolders()
	big := make([]entry, maxCached/2)
	hash := func(b byte) plumbing.Hash { return plumbing.Hash(bytes.Repeat([]byte{b}, 20)) }
	f.add(hash(1), nil)
	f.add(hash(2), big)
	f.get(hash(1))
	f.add(hash(3), big)
	for b, want := range map[byte]bool{1: true, 2: false, 3: true} {
		if _, ok := f.get(hash(b)); ok != want {
			t.Errorf("folder %d is cached: %v, want %v", b, ok, want)
		}
	}
	if f.size != maxCached/2+2 {
		t.Errorf("the size is %d", f.size)
	}
}
