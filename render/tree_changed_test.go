package render_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kubehenge.dev/render"
)

func TestATreeThatIsChangedInMemoryRendersLikeOneThatWasWritten(t *testing.T) {
	files := repository(t)
	changes := map[string][]byte{
		claimFile:                              append(append([]byte{}, files[claimFile]...), "\n# a comment\n"...),
		"clusters/new/team/kustomization.yaml": []byte("namespace: team-new\nresources: [claim.yaml]\n"),
		"clusters/new/team/claim.yaml":         []byte("kind: ClusterClaim\nspec: {version: 7}\n"),
	}
	written := render.Memory(files)
	for name, content := range changes {
		written = written.With(name, content)
	}
	tried := render.Changed(render.Memory(files), changes)
	renderer := render.New()
	for name, tree := range map[string]render.Tree{"before": render.Memory(files), "tried": tried} {
		got, err := renderer.Render(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if name == "tried" {
			want, err := render.New().Render(t.Context(), written)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.Overlays, got.Overlays, cmpopts.IgnoreUnexported(render.Overlay{})); d != "" {
				t.Error(d)
			}
		}
	}
	for _, folder := range []string{".", "clusters", "clusters/new", "clusters/new/team", "classes"} {
		a, errA := written.ReadDir(folder)
		b, errB := tried.ReadDir(folder)
		if errA != nil || errB != nil || len(a) != len(b) {
			t.Errorf("%s: %v, %v; %d entries, want %d", folder, errA, errB, len(b), len(a))
			continue
		}
		for i := range a {
			if a[i].Name() != b[i].Name() || a[i].IsDir() != b[i].IsDir() {
				t.Errorf("%s: %s, want %s", folder, b[i].Name(), a[i].Name())
			}
		}
	}
}

func TestATreeThatIsChangedInMemoryKeepsItsDigestsApart(t *testing.T) {
	plain := render.Memory(repository(t))
	digest := func(tree render.Tree, name string) string {
		d, err := tree.Digest(name)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one := render.Changed(plain, map[string][]byte{claimFile: []byte("one")})
	two := render.Changed(plain, map[string][]byte{claimFile: []byte("two")})
	if digest(one, "clusters") == digest(two, "clusters") || digest(one, ".") == digest(plain, ".") || digest(one, "classes") != digest(plain, "classes") {
		t.Error("a digest does not tell what changed")
	}
	if digest(one, "clusters") != digest(render.Changed(plain, map[string][]byte{claimFile: []byte("one")}), "clusters") {
		t.Error("the same change has two digests")
	}
}
