package render_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"kubehenge.dev/render"
)

// golden compares with testdata/<name>, or writes it where UPDATE_GOLDEN is set.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (UPDATE_GOLDEN=1 writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (UPDATE_GOLDEN=1 writes it):\n%s", file, diff)
	}
}

// written is a rendering as text: each overlay's objects, or its problems.
func written(t *testing.T, r *render.Rendering) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, p := range r.FleetProblems {
		b.WriteString("# " + p.String() + "\n")
	}
	for _, o := range r.Overlays {
		b.WriteString("# " + o.Path + "\n")
		for _, p := range o.Problems {
			b.WriteString("# " + p.String() + "\n")
		}
		for _, object := range o.Objects {
			text, err := yaml.Marshal(object.Object)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString("---\n" + string(text))
		}
	}
	return b.Bytes()
}

// TestGolden renders each testdata/*.txtar-like file: a repository on top of the one that kubehenge init --example makes. A file's part
// begins with "-- path --"; an empty part deletes the file.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			files := caseFiles(t, file)
			golden(t, strings.TrimSuffix(filepath.Base(file), ".txt")+".golden.yaml", written(t, rendered(t, render.Memory(files))))
		})
	}
}

func wholeExample(t *testing.T) map[string][]byte { return caseFiles(t, "testdata/whole.txt") }

func caseFiles(t *testing.T, file string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	files := repository(t)
	for name, content := range parts(string(text)) {
		files[name] = []byte(content)
		if content == "" {
			delete(files, name)
		}
	}
	return files
}

// parts splits "-- path --" sections.
func parts(text string) map[string]string {
	files := map[string]string{}
	var name string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(rest, " --") {
			name = strings.TrimSuffix(rest, " --")
			files[name] = ""
			continue
		}
		if name != "" {
			files[name] += line
		}
	}
	return files
}
