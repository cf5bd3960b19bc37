package render_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubehenge.dev/render"
)

func TestLinksOnDiskAreNotFollowed(t *testing.T) {
	dir := onDisk(t)
	outside := t.TempDir()
	write(t, outside, "kustomization.yaml", "namespace: a\nresources: [claim.yaml]\n")
	write(t, outside, "claim.yaml", string(repository(t)[claimFile]))
	link := func(target, name string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(outside, "clusters/linked")
	link(outside, "clusters/_base")
	write(t, dir, "clusters/a/kustomization.yaml", "namespace: a\nresources: [claim.yaml]\n")
	link(filepath.Join(outside, "claim.yaml"), "clusters/a/claim.yaml")
	write(t, dir, "clusters/b/kustomization.yaml", "namespace: b\nresources: [../_base]\n")
	out, _, err := run(render.CheckCommand(), "-C", dir)
	want := []string{
		"clusters/a/claim.yaml: is a symbolic link; links are not followed",
		"clusters/b/kustomization.yaml:2: resources[0]: is a symbolic link; links are not followed",
		"clusters/linked: is a symbolic link; links are not followed",
	}
	if err == nil || out != strings.Join(want, "\n")+"\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTreesAgree holds the tree on disk against the one in memory.
func TestTreesAgree(t *testing.T) {
	disk, err := render.Dir(onDisk(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, tree := range map[string]render.Tree{"disk": disk, "memory": render.Memory(repository(t))} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"nothing", "clusters/nothing/more", claimFile + "/below"} {
				if _, err := tree.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("ReadFile(%s): %v", path, err)
				}
				if _, err := tree.Digest(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Digest(%s): %v", path, err)
				}
			}
			if _, err := tree.ReadFile("clusters"); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("ReadFile of a folder: %v", err)
			}
			if _, err := tree.ReadDir(claimFile); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("ReadDir of a file: %v", err)
			}
			entries, err := tree.ReadDir("clusters")
			if err != nil || len(entries) != 2 || entries[0].Name() != "examples" || !entries[0].IsDir() || entries[1].Name() != "fleet.yaml" {
				t.Errorf("%v %v", entries, err)
			}
			if content, err := tree.ReadFile(claimFile); err != nil || string(content) != string(repository(t)[claimFile]) {
				t.Errorf("%q %v", content, err)
			}
		})
	}
}

func TestMemoryTreeDigests(t *testing.T) {
	tree := render.Memory(repository(t))
	digest := func(tree render.Tree, path string) string {
		d, err := tree.Digest(path)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	changed := tree.With(claimFile, []byte("x"))
	if digest(tree, "clusters") == digest(changed, "clusters") || digest(tree, "classes") != digest(changed, "classes") {
		t.Error("a change must show above the file and nowhere else")
	}
	if back := changed.With(claimFile, repository(t)[claimFile]); digest(back, ".") != digest(tree, ".") {
		t.Error("the same files must have the same digest")
	}
	if gone := tree.With("a/b/c", []byte("x")).With("a/b/c", nil); digest(gone, ".") != digest(tree, ".") {
		t.Error("empty folders must not stay")
	}
}
