package git

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhereAFolderCameFromIsFound(t *testing.T) {
	t.Parallel()
	r, err := OpenBare(bareDir(t), "main")
	if err != nil {
		t.Fatal(err)
	}
	var commits []string
	for _, files := range []map[string][]byte{
		{"README": []byte("1")},
		{"c/a/x/claim": []byte("1"), "c/a/x/more/deep": []byte("1")},
		{"c/b/y/claim": []byte("1")},
		{"c/a/x/claim": []byte("2"), "c/b/y/other": []byte("2")},
		{"c/a/x": nil, "c/b/z/claim": []byte("2")},
		{"c/b/y": nil},
		{"c/b/y/claim": []byte("3")},
		{"c/b/y/claim": []byte("4"), "c/b/y-beside/claim": []byte("4")},
	} {
		sha, err := r.CommitAndPush(t.Context(), func(*Tree) (Change, error) {
			return Change{Files: files, Message: "Step", Author: Person{Name: "a", Email: "a@example.org"}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		commits = append(commits, sha)
	}
	all := []string{"c/a/x", "c/b/y", "c/b/y-beside", "c/b/z", "c", "nowhere"}
	for name, c := range map[string]struct {
		start, most int
		want        map[string]int
	}{
		"one that came, went and came again counts from then on": {7, 100, map[string]int{"c/b/y": 6, "c/b/y-beside": 7, "c/b/z": 4, "c": 1}},
		"what comes later is not there yet":                      {3, 100, map[string]int{"c/a/x": 1, "c/b/y": 2, "c": 1}},
		"what is further back than it may be looked is left out": {7, 2, map[string]int{"c/b/y": 6, "c/b/y-beside": 7}},
		"a folder in the first commit of all came with that":     {1, 100, map[string]int{"c/a/x": 1, "c": 1}},
		"no look finds nothing":                                  {7, 0, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := r.Origins(t.Context(), commits[c.start], all, c.most)
			if err != nil {
				t.Fatal(err)
			}
			got, want := map[string]string{}, map[string]string{}
			for folder, commit := range found {
				got[folder] = commit.Hash
			}
			for folder, i := range c.want {
				want[folder] = commits[i]
			}
			if !maps.Equal(got, want) {
				t.Error(cmp.Diff(want, got))
			}
		})
	}
	if _, err := r.Origins(t.Context(), "0123456789012345678901234567890123456789", all, 1); err == nil {
		t.Error("no error for a commit that is not there")
	}
}
