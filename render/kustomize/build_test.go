package kustomize

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// files is a Tree of files by their paths.
type files map[string]string

func (f files) fs() fs.FS {
	m := fstest.MapFS{}
	for name, content := range f {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

func (f files) ReadFile(name string) ([]byte, error) {
	if content, ok := f[name]; ok {
		return []byte(content), nil
	}
	if _, err := fs.ReadDir(f.fs(), name); err == nil {
		return nil, fs.ErrInvalid
	}
	return nil, fs.ErrNotExist
}

func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, ok := f[name]; ok {
		return nil, fs.ErrInvalid
	}
	return fs.ReadDir(f.fs(), name)
}

const claimYAML = `apiVersion: kubehenge.dev/v1alpha1
kind: ClusterClaim
metadata:
  name: shop # the shop
spec:
  class: kubeadm-1
  controlPlane: {replicas: 3, size: small}
`

const simple = "namespace: team-a\nresources:\n- claim.yaml\n"

// asYAML is what `kustomize build` prints for objects.
func asYAML(t testing.TB, objects []map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		asYAML, err := yaml.JSONToYAML(text)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n" + string(asYAML))
	}
	return b.String()
}

// byLibrary builds with the kustomize library, whatever the form. Problems of the scan come back as an error.
func byLibrary(t testing.TB, tree Tree, folder string) (string, error) {
	t.Helper()
	s := newScan(tree)
	if _, err := s.target(folder, nil); err != nil {
		return "", err
	}
	if len(s.problems) > 0 {
		return "", fmt.Errorf("%v", s.problems)
	}
	m, err := runLibrary(s, folder)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range m.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return "", err
		}
		b.WriteString("---\n" + string(text))
	}
	return b.String(), nil
}

func TestPlainAndLibraryAgree(t *testing.T) {
	for name, tree := range map[string]files{
		"a claim with a namespace": {"o/kustomization.yaml": simple, "o/claim.yaml": claimYAML},
		"a namespace of its own is replaced": {"o/kustomization.yaml": simple,
			"o/claim.yaml": strings.Replace(claimYAML, "name: shop", "name: shop\n  namespace: other", 1)},
		"no namespace":                 {"o/kustomization.yaml": "resources: [claim.yaml]", "o/claim.yaml": claimYAML},
		"a base":                       {"o/kustomization.yaml": "namespace: a\nresources: [../b]", "b/kustomization.yaml": simple, "b/claim.yaml": claimYAML},
		"a component":                  {"o/kustomization.yaml": "namespace: a\nresources: [claim.yaml]\ncomponents: [../c]", "o/claim.yaml": claimYAML, "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [map.yaml]", "c/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: |\n    one\n      two\n  b: \"yes\"\n"},
		"a component with a namespace": {"o/kustomization.yaml": "resources: [claim.yaml]\ncomponents: [../c]", "o/claim.yaml": claimYAML, "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamespace: x\n"},
		"a patch": {"o/kustomization.yaml": simple + "patches: [{path: patch.yaml}]\n", "o/claim.yaml": claimYAML,
			"o/patch.yaml": "apiVersion: kubehenge.dev/v1alpha1\nkind: ClusterClaim\nmetadata: {name: shop, labels: {a: b}}\nspec: {version: v1, controlPlane: {size: large}, nodes: [a, b]}\n"},
		"a patch in the kustomization, for a base, with a target": {"o/kustomization.yaml": "namespace: a\nresources: [../b]\npatches:\n- target: {kind: ClusterClaim}\n  patch: |-\n    apiVersion: kubehenge.dev/v1alpha1\n    kind: ClusterClaim\n    metadata: {name: any}\n    spec:\n      nodes: [c]\n",
			"b/kustomization.yaml": simple, "b/claim.yaml": claimYAML + "  nodes: [a, b]\n"},
		"a patch with a target that is not there": {"o/kustomization.yaml": simple + "patches:\n- target: {kind: HelmChartProxy, name: x}\n  patch: |-\n    apiVersion: kubehenge.dev/v1alpha1\n    kind: ClusterClaim\n    metadata: {name: any}\n", "o/claim.yaml": claimYAML},
		"a component that patches": {"o/kustomization.yaml": simple + "components: [../c]\n", "o/claim.yaml": claimYAML,
			"c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml, target: {kind: ClusterClaim}}]\n",
			"c/p.yaml":             "apiVersion: kubehenge.dev/v1alpha1\nkind: ClusterClaim\nmetadata: {name: any}\nspec: {storage: fast}\n"},
		"two documents":   {"o/kustomization.yaml": simple, "o/claim.yaml": claimYAML + "---\n" + strings.Replace(claimYAML, "shop", "shop2", 1)},
		"empty documents": {"o/kustomization.yaml": simple, "o/claim.yaml": "---\n# nothing\n---\n" + claimYAML + "---\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Build(tree, "o")
			if err != nil || len(got.Problems) > 0 {
				t.Fatal(err, got.Problems)
			}
			if got.Library() {
				t.Fatal("was built by the library")
			}
			want, err := byLibrary(t, tree, "o")
			if err != nil {
				t.Fatal(err)
			}
			if text := asYAML(t, got.Objects); text != want {
				t.Errorf("plain:\n%s\nlibrary:\n%s", text, want)
			}
		})
	}
}

func BenchmarkPlain(b *testing.B) {
	tree := files{"o/kustomization.yaml": simple, "o/claim.yaml": claimYAML}
	for b.Loop() {
		if r, err := Build(tree, "o"); err != nil || r.Library() {
			b.Fatal(r, err)
		}
	}
}

func BenchmarkLibrary(b *testing.B) {
	tree := files{"o/kustomization.yaml": simple, "o/claim.yaml": claimYAML}
	for b.Loop() {
		if _, err := byLibrary(b, tree, "o"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLibraryBaseAndPatch(b *testing.B) {
	tree := files{
		"o/kustomization.yaml": "namespace: a\nresources: [../b]\npatches: [{path: patch.yaml}]",
		"o/patch.yaml":         "apiVersion: kubehenge.dev/v1alpha1\nkind: ClusterClaim\nmetadata: {name: shop}\nspec: {version: v1.36.3}\n",
		"b/kustomization.yaml": simple, "b/claim.yaml": claimYAML,
	}
	for b.Loop() {
		if _, err := byLibrary(b, tree, "o"); err != nil {
			b.Fatal(err)
		}
	}
}
