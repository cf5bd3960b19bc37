package bootstrap_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kubehenge.dev/bootstrap"
	"kubehenge.dev/render"
)

func problemsOf(t *testing.T, dir string) (*render.Rendering, []render.Problem) {
	t.Helper()
	tree, err := render.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := render.New().Render(context.Background(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Problems()
}

func TestNewRepositoryHasNoProblems(t *testing.T) {
	for _, example := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "fleet")
		written, err := bootstrap.WriteRepository(dir, bootstrap.Options{Example: example})
		if err != nil {
			t.Fatal(err)
		}
		r, problems := problemsOf(t, dir)
		if len(problems) > 0 {
			t.Errorf("problems: %v", problems)
		}
		want := 0
		if example {
			want = 1
		}
		if len(r.Overlays) != want {
			t.Errorf("%d overlays with example %v", len(r.Overlays), example)
		}
		if !slices.Contains(written, "classes/kubeadm-1/class.yaml") || !slices.IsSorted(written) {
			t.Errorf("wrote %v", written)
		}
	}
}

func TestWriteRepositoryTakesTheGivenFleet(t *testing.T) {
	dir := t.TempDir()
	if _, err := bootstrap.WriteRepository(dir, bootstrap.Options{Fleet: []byte("mine\n")}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "clusters/fleet.yaml")); err != nil || string(got) != "mine\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWriteRepositoryChangesNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := bootstrap.WriteRepository(dir, bootstrap.Options{Fleet: []byte("mine\n")}); err != nil {
		t.Fatal(err)
	}
	written, err := bootstrap.WriteRepository(dir, bootstrap.Options{Example: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"clusters/examples/hello/claim.yaml", "clusters/examples/hello/kustomization.yaml"}
	if !slices.Equal(written, want) {
		t.Errorf("wrote %v, want %v", written, want)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "clusters/fleet.yaml")); string(got) != "mine\n" {
		t.Errorf("the Fleet is now %q", got)
	}
}

func TestWriteRepositoryRefusesAForeignFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bootstrap.WriteRepository(dir, bootstrap.Options{}); !errors.Is(err, bootstrap.ErrForeignFolder) {
		t.Errorf("got %v", err)
	}
}

func TestWriteRepositoryTakesAFreshClone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := bootstrap.WriteRepository(dir, bootstrap.Options{}); err != nil {
		t.Error(err)
	}
}

func TestWriteRepositoryLeavesNoFolderByALink(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if _, err := bootstrap.WriteRepository(dir, bootstrap.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "classes")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "classes")); err != nil {
		t.Fatal(err)
	}
	if _, err := bootstrap.WriteRepository(dir, bootstrap.Options{}); err == nil {
		t.Error("wrote through a link out of the folder")
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("outside now holds %v", entries)
	}
}

func TestInitCommandListsWhatItWrote(t *testing.T) {
	cmd := bootstrap.Command()
	var out bytes.Buffer
	cmd.SetOut(&out)
	dir := t.TempDir()
	cmd.SetArgs([]string{dir, "--example"})
	for _, want := range []string{"clusters/examples/hello/claim.yaml", "nothing is missing"} {
		out.Reset()
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q: %s", want, out.String())
		}
	}
}
