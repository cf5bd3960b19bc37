package kustomize

import (
	"strings"
	"testing"
)

// FuzzPlainIsLibrary: what is built the short way is, byte for byte, what the kustomize library builds.
func FuzzPlainIsLibrary(f *testing.F) {
	component := "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
	configMap := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, labels: {a: b}}\ndata:\n  a: |\n    one\n      two\n\n    three\n  b: \"yes\"\n  'c': no way\n"
	f.Add(simple, claimYAML, component+"namespace: x\n", configMap)
	f.Add("resources: [claim.yaml, ../c]\n", claimYAML, "resources: [map.yaml]", configMap)
	f.Add(simple+"components: [../c]\n", claimYAML, component+"resources: [map.yaml]\n", configMap)
	f.Add(simple, claimYAML+"---\n"+configMap, component, strings.ReplaceAll(configMap, "|", "|-"))
	f.Add(simple, strings.Replace(claimYAML, "shop", "&a shop", 1), component, strings.ReplaceAll(configMap, "|", ">"))
	f.Add(simple, claimYAML+"  # end\n\n", component, strings.ReplaceAll(configMap, "|", "|+"))
	f.Add(simple, strings.Replace(claimYAML, "3", "0x3", 1), component, configMap+"  d: 2001-01-01\n  e: 0o7\n  f: ~\n  g: on\n")
	patch := "apiVersion: kubehenge.dev/v1alpha1\nkind: ClusterClaim\nmetadata: {name: shop, labels: {x: y}}\nspec: {version: v1, controlPlane: {size: large}, nodes: [a, b]}\n"
	f.Add(simple+"patches: [{path: patch.yaml}]", claimYAML, component, patch)
	f.Add(simple+"components: [../c]\n", claimYAML, component+"patches: [{path: map.yaml, target: {kind: ClusterClaim}}]", patch)
	f.Fuzz(func(t *testing.T, kustomization, claim, other, configMap string) {
		tree := files{"o/kustomization.yaml": kustomization, "o/claim.yaml": claim, "o/patch.yaml": configMap, "c/kustomization.yaml": other, "c/map.yaml": configMap}
		got, err := Build(tree, "o")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Problems) > 0 || got.Library() {
			return
		}
		want, err := byLibrary(t, tree, "o")
		if err != nil {
			t.Fatalf("the library refuses what was built: %v\n%s", err, asYAML(t, got.Objects))
		}
		if text := asYAML(t, got.Objects); text != want {
			t.Errorf("plain:\n%s\nlibrary:\n%s", text, want)
		}
	})
}

// FuzzBuild: whatever the files, building neither panics nor reads a path outside of the tree, and a second time gives the same.
func FuzzBuild(f *testing.F) {
	f.Add(simple, claimYAML, "/etc/passwd")
	f.Add("resources: [claim.yaml, ../../../etc/passwd, https://example.com/x.yaml, 'github.com/a/b?ref=c', ../o]", claimYAML, "x")
	f.Add("configMapGenerator: [{name: a, files: [k=../../x], envs: [claim.yaml]}]\nreplacements: [{path: ../r}]\npatches: [{path: claim.yaml}]", claimYAML, "a: b")
	f.Add("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b]\n", "a: &a [*a]", "&a {<<: *a}")
	f.Add("generators: [x]\nResources: [claim.yaml]\nhelmCharts: [{name: x}]", claimYAML, "")
	f.Add("namePrefix: p-\nlabels: [{pairs: {a: b}}]\nresources: [claim.yaml]\npatches: [{patch: '- {op: add, path: /spec/x, value: 1}', target: {kind: ClusterClaim}}]", claimYAML, "")
	f.Fuzz(func(t *testing.T, kustomization, claim, other string) {
		tree := watched{t, files{"a/o/kustomization.yaml": kustomization, "a/o/claim.yaml": claim, "a/other": other}}
		first, err := Build(tree, "a/o")
		if err != nil {
			t.Fatal(err)
		}
		if len(first.Objects) > 0 && len(first.Problems) > 0 {
			t.Error("objects in spite of problems")
		}
		second, err := Build(tree, "a/o")
		if err != nil || asYAML(t, first.Objects) != asYAML(t, second.Objects) {
			t.Error("the second time differs", err)
		}
	})
}

// watched fails the test for a path that is not within the tree.
type watched struct {
	t *testing.T
	files
}

func (w watched) ReadFile(name string) ([]byte, error) {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "..") || strings.Contains(name, "/../") {
		w.t.Errorf("read %q", name)
	}
	return w.files.ReadFile(name)
}
