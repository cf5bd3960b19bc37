package git

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatACommitChangedIsToldAsGitTellsIt(t *testing.T) {
	t.Parallel()
	dir, ctx := bareDir(t), context.Background()
	r, err := OpenBare(dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	steps := []map[string][]byte{
		{"a/x": []byte("1\n"), "a/y": []byte("1\n"), "a.b": []byte("1\n"), "b/c/d/e": []byte("1\n"), "plain": []byte("1\n"), "Umlaut-ü": []byte("1\n")},
		{"a/x": []byte("2\n"), "b/c/f": []byte("2\n")},
		{"b": nil, "new/x": []byte("2\n")},
		{"plain": nil, "a": nil, "a/z": []byte("3\n")},
	}
	before := ""
	for i, files := range steps {
		sha, err := r.CommitAndPush(ctx, func(*Tree) (Change, error) {
			return Change{Files: files, Message: "Step", Author: Person{Name: "a", Email: "a@example.org"}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		from := before
		if from == "" {
			from = emptyTree.String()
		}
		want := strings.Split(bareGit(t, dir, "-c", "core.quotePath=false", "diff", "--name-only", "--no-renames", from, sha), "\n")
		got, err := r.Changed(before, sha)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("step %d: %v\n%s", i, err, diff)
		}
		text, whole, err := r.Diff(ctx, before, sha, got, 1<<20)
		if want := bareGit(t, dir, "-c", "core.quotePath=false", "diff", "-M", from, sha); strings.TrimSpace(text) != want || !whole || err != nil {
			t.Errorf("step %d: %v, whole %v\n%s", i, err, whole, cmp.Diff(want, text))
		}
		before = sha
	}
}

func TestADiffShowsOnlyTheFilesThatAreAskedForAndNotTooMuch(t *testing.T) {
	t.Parallel()
	dir, ctx := bareDir(t), context.Background()
	r, err := OpenBare(dir, "main")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"*": []byte("star\n"), "secret": []byte("no\n")}
	var names []string
	for i := range 3000 {
		name := fmt.Sprintf("a-folder-with-a-rather-long-name/%04d", i)
		files[name] = []byte("line\n")
		names = append(names, name)
	}
	sha, err := r.CommitAndPush(ctx, func(*Tree) (Change, error) {
		return Change{Files: files, Message: "Many", Author: Person{Name: "a", Email: "a@example.org"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	text, whole, err := r.Diff(ctx, "", sha, []string{"*"}, 1<<20)
	if err != nil || !whole || !strings.Contains(text, "+star") || strings.Contains(text, "+no") {
		t.Errorf("%v, whole %v: %.200s", err, whole, text)
	}
	text, whole, err = r.Diff(ctx, "", sha, names, 2<<20)
	if err != nil || !whole || strings.Count(text, "+line") != len(names) {
		t.Errorf("%v, whole %v, %d files", err, whole, strings.Count(text, "+line"))
	}
	text, whole, err = r.Diff(ctx, "", sha, names, 1000)
	if err != nil || whole || len(text) > 1000 || !strings.HasSuffix(text, "\n") {
		t.Errorf("%v, whole %v, %d bytes", err, whole, len(text))
	}
	if text, whole, err := r.Diff(ctx, "", sha, nil, 1000); err != nil || !whole || text != "" {
		t.Errorf("of no files: %v, %q", err, text)
	}
	if _, _, err := r.Diff(ctx, "--output=x", sha, names, 1000); err == nil {
		t.Error("an option is taken for a commit")
	}
}
