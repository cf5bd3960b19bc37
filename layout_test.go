package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers are the folders of this module from left to right: a package may import from its own folder and
// from folders to its left. Folders of the first group hold data and import nothing of ours.
var layers = [][]string{
	{"clusters", "classes"},
	{"api"},
	{"proxmox"},
	{"git"},
	{"render"},
	{"agent"},
	{"bootstrap"},
	{"appliance"},
	{"lab"},
	{"."},
}

func layerOf(folder string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, folder) })
}

func top(dir string) string { return strings.SplitN(filepath.ToSlash(dir), "/", 2)[0] }

// goFiles calls visit for each hand-written, non-test Go file of this module, nested modules left out.
func goFiles(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || exists(filepath.Join(path, "go.mod"))) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(d.Name(), "zz_generated") {
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func TestPackagesImportOnlyFromFoldersToTheirLeft(t *testing.T) {
	seen := 0
	goFiles(t, func(path string) {
		from := top(filepath.Dir(path))
		if layerOf(from) < 0 {
			t.Errorf("%s: folder %q has no place in the import order; add it to layers or move the file", path, from)
			return
		}
		for _, imp := range imports(t, path) {
			to, ours := strings.CutPrefix(imp, "kubehenge.dev/")
			if !ours {
				continue
			}
			seen++
			if to := top(to); to != from && layerOf(to) >= layerOf(from) {
				t.Errorf("%s imports %s: %q is not to the left of %q", path, imp, to, from)
			}
		}
	})
	if seen == 0 {
		t.Fatal("no import of ours was seen; the test looks at the wrong place")
	}
}

func TestOnlyTheLabImportsTheSimulator(t *testing.T) {
	goFiles(t, func(path string) {
		from := filepath.ToSlash(filepath.Dir(path))
		if top(from) == "lab" || strings.HasPrefix(from, "proxmox/simulator") {
			return
		}
		for _, imp := range imports(t, path) {
			if strings.HasPrefix(imp, "kubehenge.dev/proxmox/simulator") {
				t.Errorf("%s imports the simulator; only tests and lab may", path)
			}
		}
	})
}

func TestNoFolderIsNamedForLeftovers(t *testing.T) {
	goFiles(t, func(path string) {
		for _, part := range strings.Split(filepath.ToSlash(filepath.Dir(path)), "/") {
			if slices.Contains([]string{"util", "utils", "common", "misc", "helpers", "pkg", "internal"}, part) {
				t.Errorf("%s: name the folder for what it answers, not %q", path, part)
			}
		}
	})
}

func imports(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var paths []string
	for _, i := range file.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		paths = append(paths, p)
	}
	return paths
}
