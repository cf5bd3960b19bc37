package kustomize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// writer draws YAML as people write it, and sometimes as they do not.
type writer struct{ *rand.Rand }

func (w writer) of(choices ...string) string { return choices[w.IntN(len(choices))] }

func (w writer) scalar() string {
	if w.IntN(5) > 0 {
		return w.of("a", "v1.36.3", "3", "0", "-7", "true", "10.0.40.10", "4Gi", `"3"`, "'yes'", "a b")
	}
	return w.of("a", "v1.36.3", "3", "0", "-7", "true", "false", `"3"`, `'yes'`, "yes", "on", "10.0.40.10", "4Gi", `"a: b"`, "a b", "1.5", "~", "null", `""`, "0x1f",
		"2001-01-01", "'it''s'", `"tab\t"`, "é", "012", "1e3", "&x y", "!!str 3", "12345678901234567890", "[]", "{}", "a#b", "- ", "*y")
}

func (w writer) name() string {
	if w.IntN(20) == 0 {
		return w.of("y", "3", "$patch", "?")
	}
	return w.of("version", "size", "nodes", "a", "b", "labels", "x-y")
}

// value draws a value that stands behind a key, at an indentation.
func (w writer) value(indent string, depth int) string {
	switch n := w.IntN(10); {
	case n < 5 || depth == 0:
		return " " + w.scalar() + w.of("", "", " # note") + "\n"
	case n == 5:
		return fmt.Sprintf(" {%s: %s, c: [%s, %s]}\n", w.name(), w.scalar(), w.scalar(), w.scalar())
	case n == 6:
		return " " + w.of("|", "|-", "|+", ">") + "\n" + indent + "  one\n" + indent + w.of("  two", "    two ", "", "  # no note") + "\n" + w.of("", "\n")
	case n == 7:
		return "\n" + indent + "- " + w.scalar() + "\n" + indent + "- " + w.scalar() + "\n"
	}
	var b strings.Builder
	b.WriteString("\n")
	for i := range 1 + w.IntN(3) {
		b.WriteString(w.of("", "", indent+"  # head\n") + indent + "  " + w.of(w.name(), fmt.Sprint("k", i)) + ":" + w.value(indent+"  ", depth-1))
	}
	return b.String()
}

func (w writer) object(kind string) string {
	return w.of("", "# top\n") + "apiVersion: kubehenge.dev/v1alpha1\nkind: " + kind + "\nmetadata:\n  name: " + w.of("shop", "shop", "shop", "other") + "\n" +
		w.of("", "", "  namespace: own\n", "  labels: {a: b}\n", "  annotations:\n    a: "+w.scalar()+"\n") + "spec:" + w.of(w.value("", 3), "\n  "+w.name()+":"+w.value("  ", 2)) + w.of("", "", "status: {}\n", "\n# end\n")
}

func (w writer) kustomization() string {
	return w.of("", "namespace: team-a\n") + w.of("resources: [claim.yaml]\n", "resources: [claim.yaml]\n", "resources: [../b]\n") +
		w.of("", "components: [../c]\n") + w.of("", "", "patches: [{path: patch.yaml}]\n", "patches: [{path: patch.yaml, target: {kind: ClusterClaim}}]\n",
		"patches:\n- target: {kind: ClusterClaim, name: "+w.of("shop", "s.*", "o")+"}\n  path: patch.yaml\n")
}

// TestRandomOverlays draws overlays and holds the short way against the library wherever it is taken.
func TestRandomOverlays(t *testing.T) {
	w := writer{rand.New(rand.NewPCG(5, 6))}
	const rounds = 1500
	short := 0
	for range rounds {
		tree := files{
			"o/kustomization.yaml": w.kustomization(), "o/claim.yaml": w.object("ClusterClaim"), "o/patch.yaml": w.object("ClusterClaim"),
			"b/kustomization.yaml": w.of("", "namespace: base\n") + "resources: [claim.yaml]\n", "b/claim.yaml": w.object("ClusterClaim"),
			"c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n" + w.of("resources: [proxy.yaml]\n", "patches: [{path: proxy.yaml, target: {kind: ClusterClaim}}]\n"),
			"c/proxy.yaml":         strings.Replace(w.object("HelmChartProxy"), "kubehenge.dev/", "addons.cluster.x-k8s.io/", 1),
		}
		got, err := Build(tree, "o")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Problems) > 0 || got.Library() {
			continue
		}
		short++
		want, err := byLibrary(t, tree, "o")
		if err != nil {
			t.Fatalf("the library refuses: %v\n%v", err, tree)
		}
		if text := asYAML(t, got.Objects); text != want {
			t.Fatalf("%v\nplain:\n%s\nlibrary:\n%s", tree, text, want)
		}
	}
	if short < rounds/10 {
		t.Errorf("only %d of %d overlays were built the short way", short, rounds)
	}
}
