package render_test

import (
	"context"
	"io/fs"
	"testing"

	"kubehenge.dev/classes"
	"kubehenge.dev/clusters"
	"kubehenge.dev/render"
)

// repository is a repository as kubehenge init makes it, with the example.
func repository(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for folder, embedded := range map[string]fs.FS{"classes/": classes.Files, "clusters/": clusters.Files} {
		err := fs.WalkDir(embedded, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			files[folder+name], err = fs.ReadFile(embedded, name)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func rendered(t testing.TB, tree render.Tree) *render.Rendering {
	t.Helper()
	r, err := render.New().Render(context.Background(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
