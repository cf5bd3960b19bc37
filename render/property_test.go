package render_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/render"
	"kubehenge.dev/render/sample"
)

// variety is a repository with every kind of overlay: simple, of a base, with a component, with patches, broken, in conflict.
func variety(t testing.TB) map[string][]byte {
	files := fleetOf(t, 12)
	put := func(name, content string) { files[name] = []byte(content) }
	put("clusters/_base/kustomization.yaml", "resources: [claim.yaml]\n")
	put("clusters/_base/claim.yaml", strings.ReplaceAll(string(sample.Claim(0, 1)), "10.0.1.0", "10.0.9.0"))
	put("clusters/_config/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [map.yaml]\n")
	put("clusters/_config/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n")
	for i := range 6 {
		folder := fmt.Sprintf("clusters/based/c%d", i)
		text := fmt.Sprintf("namespace: based-%d\nresources: [../../_base]\ncomponents: [../../_config]\n", i)
		if i > 1 { // the first two share an endpoint
			text += fmt.Sprintf("patches:\n- target: {kind: ClusterClaim}\n  patch: '[{op: replace, path: /spec/endpoint, value: 10.0.9.%d}]'\n", i)
		}
		put(folder+"/kustomization.yaml", text)
	}
	put("clusters/broken/a/kustomization.yaml", "resources: [nothing.yaml]\n")
	put("clusters/broken/b/kustomization.yaml", "namespace: b\nresources: [claim.yaml]\n")
	put("clusters/broken/b/claim.yaml", strings.Replace(string(sample.Claim(200, 1)), "version", "vresion", 1))
	put("clusters/broken/c/claim.yaml", "a: b\n")
	return files
}

// summary is all that a rendering says, as text.
func summary(t testing.TB, r *render.Rendering) string {
	t.Helper()
	var b strings.Builder
	for _, p := range r.FleetProblems {
		fmt.Fprintln(&b, p)
	}
	for _, o := range r.Overlays {
		fmt.Fprintln(&b, o.Path, o.File, o.Namespace, o.Name, o.Digest, o.Need, len(o.Objects), o.Problems)
	}
	for name, c := range r.Classes {
		fmt.Fprintln(&b, name, c.Digest)
	}
	return b.String()
}

// TestARendererForgetsNothing: after any sequence of commits a Renderer says what a new one says of the same tree.
func TestARendererForgetsNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tree := render.Memory(variety(t))
	known := render.New()
	for round := range 150 {
		got, err := known.Render(context.Background(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(summary(t, rendered(t, tree)), summary(t, got)); diff != "" {
			t.Fatalf("round %d:\n%s", round, diff)
		}
		for range 1 + r.IntN(3) {
			tree = commit(t, r, tree)
		}
	}
}

// commit changes something in the tree.
func commit(t testing.TB, r *rand.Rand, tree *render.MemoryTree) *render.MemoryTree {
	read := func(name string) string {
		content, err := tree.ReadFile(name)
		if err != nil {
			return string(sample.Claim(r.IntN(300), 1))
		}
		return string(content)
	}
	simple := fmt.Sprintf("clusters/team-0/shop-%d", r.IntN(14))
	based := fmt.Sprintf("clusters/based/c%d", r.IntN(7))
	steps := []func() *render.MemoryTree{
		func() *render.MemoryTree { return tree.With(simple+"/claim.yaml", sample.Claim(r.IntN(14), r.IntN(5))) },
		func() *render.MemoryTree { return tree.With(simple+"/claim.yaml", nil) },
		func() *render.MemoryTree { return tree.With(simple+"/README.md", []byte(fmt.Sprint(r.IntN(9)))) },
		func() *render.MemoryTree {
			return tree.With(simple+"/kustomization.yaml", []byte("namespace: team-0\nresources: [claim.yaml]\n"))
		},
		func() *render.MemoryTree { return tree.With(simple+"/kustomization.yaml", nil) },
		func() *render.MemoryTree {
			return tree.With("clusters/_base/claim.yaml", []byte(strings.Replace(read("clusters/_base/claim.yaml"), "replicas: ", "replicas: 1", 1)))
		},
		func() *render.MemoryTree { return tree.With("clusters/_base/claim.yaml", sample.Claim(250, r.IntN(3))) },
		func() *render.MemoryTree { return tree.With("clusters/_config/map.yaml", nil) },
		func() *render.MemoryTree {
			return tree.With("clusters/_config/map.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"))
		},
		func() *render.MemoryTree { return tree.With(based+"/kustomization.yaml", nil) },
		func() *render.MemoryTree {
			return tree.With(based+"/kustomization.yaml", []byte(fmt.Sprintf("namespace: based-%d\nresources: [../../_base]\n", r.IntN(7))))
		},
		func() *render.MemoryTree {
			return tree.With("clusters/broken/a/nothing.yaml", sample.Claim(r.IntN(20), 1))
		},
		func() *render.MemoryTree {
			return tree.With("clusters/fleet.yaml", []byte(strings.Replace(read("clusters/fleet.yaml"), "cpu: 2", fmt.Sprintf("cpu: %d", 2+r.IntN(3)), 1)))
		},
		func() *render.MemoryTree { return tree.With("clusters/fleet.yaml", variety(t)["clusters/fleet.yaml"]) },
		func() *render.MemoryTree { return tree.With("clusters/fleet.yaml", nil) },
		func() *render.MemoryTree {
			return tree.With("classes/kubeadm-1/class.yaml", []byte(strings.Replace(read("classes/kubeadm-1/class.yaml"), "max: v1.36", "max: v1.35", 1)))
		},
		func() *render.MemoryTree {
			return tree.With("classes/kubeadm-1/class.yaml", repository(t)["classes/kubeadm-1/class.yaml"])
		},
		func() *render.MemoryTree {
			return tree.With("classes/kubeadm-1/README.md", []byte(fmt.Sprint(r.IntN(9))))
		},
	}
	return steps[r.IntN(len(steps))]()
}

// TestAnOverlayDoesNotDependOnOthers: an overlay without conflicts renders the same alone as among others, and from wherever it lies.
func TestAnOverlayDoesNotDependOnOthers(t *testing.T) {
	files := fleetOf(t, 20)
	all := rendered(t, render.Memory(files))
	noProblems(t, all, 20)
	for _, o := range all.Overlays {
		alone := map[string][]byte{}
		for name, content := range files {
			rest, inside := strings.CutPrefix(name, o.Path+"/")
			switch {
			case inside:
				alone["clusters/moved/there/"+rest] = content
			case !strings.HasPrefix(name, "clusters/team-"):
				alone[name] = content
			}
		}
		r := rendered(t, render.Memory(alone))
		noProblems(t, r, 1)
		if r.Overlays[0].Digest != o.Digest {
			t.Errorf("%s renders differently alone", o.Path)
		}
	}
}

func TestUnchangedOverlaysStayTheSamePointer(t *testing.T) {
	tree := render.Memory(fleetOf(t, 5))
	renderer := render.New()
	first, err := renderer.Render(context.Background(), tree)
	if err != nil {
		t.Fatal(err)
	}
	second, err := renderer.Render(context.Background(), tree.With("clusters/team-0/shop-1/claim.yaml", sample.Claim(1, 7)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range first.Overlays {
		if same := first.Overlays[i] == second.Overlays[i]; same != (i != 1) {
			t.Errorf("overlay %d: the same pointer: %v", i, same)
		}
	}
}

func TestRenderGivesUpWhenItsContextIsDone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := render.New().Render(ctx, render.Memory(fleetOf(t, 1))); err == nil {
		t.Errorf("rendered %v", r)
	}
}
