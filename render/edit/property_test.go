package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"kubehenge.dev/render/edit"
)

// claimText draws a claim as people write them: fields in any order, block or flow, comments and empty lines in between.
func claimText(r *rand.Rand) string {
	var b strings.Builder
	note := func(indent string) {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, "%s# note %d\n", indent, r.IntN(100))
		}
		if r.IntN(5) == 0 {
			b.WriteString("\n")
		}
	}
	tail := func() string { return []string{"", "", " # why", "   #"}[r.IntN(4)] }
	quote := func(s string) string { return []string{s, `"` + s + `"`, "'" + s + "'"}[r.IntN(3)] }
	b.WriteString("apiVersion: kubehenge.dev/v1alpha1\nkind: ClusterClaim\nmetadata:\n  name: shop\nspec:\n")
	fields := []func(){
		func() { fmt.Fprintf(&b, "  version: %s%s\n", quote("v1.36.3"), tail()) },
		func() { fmt.Fprintf(&b, "  controlPlane: { replicas: 3,size: %s }%s\n", quote("small"), tail()) },
		func() { fmt.Fprintf(&b, "  nodes:%s\n  - pve1%s\n  - %s\n", tail(), tail(), quote("pve2")) },
		func() { b.WriteString("  storage:\n") },
		func() {
			b.WriteString("  pools:\n")
			for i := range 1 + r.IntN(3) {
				note("    ")
				if r.IntN(2) == 0 {
					fmt.Fprintf(&b, "    - {name: p%d, replicas: %d, size: \"a, b\"}%s\n", i, r.IntN(5), tail())
					continue
				}
				fmt.Fprintf(&b, "    - name: p%d%s\n      replicas: %d\n", i, tail(), r.IntN(5))
				note("      ")
				fmt.Fprintf(&b, "      size: %s%s\n", quote("medium"), tail())
			}
		},
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, f := range fields {
		note("  ")
		f()
	}
	note("")
	return b.String()
}

var paths = []string{"spec.version", "spec.controlPlane.replicas", "spec.controlPlane.size", "spec.nodes", "spec.nodes[0]", "spec.nodes[2]", "spec.storage",
	"spec.pools[0].replicas", "spec.pools[0].size", "spec.pools[0].cpu", "spec.pools[0]", "spec.pools", "spec.state", "metadata.labels.team", "spec.workers.replicas"}

var values = []any{"v1.36.4", "a: b, c", 7, true, []string{"x", "y z"}, map[string]any{"name": "n", "replicas": 1}, "yes", ""}

// TestEditsOfAnyClaim: an edit leaves each line that is no part of the field, and the file then says what was asked for and nothing else.
func TestEditsOfAnyClaim(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	const rounds = 4000
	for range rounds {
		before := claimText(r)
		path, value := paths[r.IntN(len(paths))], values[r.IntN(len(values))]
		deletes := r.IntN(3) == 0
		var after []byte
		var err error
		if deletes {
			after, err = edit.Delete([]byte(before), path)
		} else {
			after, err = edit.Set([]byte(before), path, value)
		}
		if err != nil {
			if !errors.Is(err, edit.ErrForm) && !strings.Contains(err.Error(), "there is no item") && !strings.Contains(err.Error(), "no map") {
				t.Fatalf("%v\n%s", err, before)
			}
			refused++
			continue
		}
		checkOnlyField(t, before, string(after), path, value, deletes)
	}
	if refused > rounds/20 {
		t.Errorf("%d of %d edits were refused", refused, rounds)
	}
}

func checkOnlyField(t *testing.T, before, after, path string, value any, deleted bool) {
	t.Helper()
	got, err := edit.Get([]byte(after), path)
	if err != nil {
		t.Fatal(err)
	}
	if want := decoded(t, value); !deleted && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s is %v, not %v\n%s\n->\n%s", path, got, want, before, after)
	}
	kept := strings.Split(before, "\n")
	now := strings.Split(after, "\n")
	for len(kept) > 0 && len(now) > 0 && kept[0] == now[0] {
		kept, now = kept[1:], now[1:]
	}
	for len(kept) > 0 && len(now) > 0 && kept[len(kept)-1] == now[len(now)-1] {
		kept, now = kept[:len(kept)-1], now[:len(now)-1]
	}
	whole := path == "spec.pools" || path == "spec.nodes" || path == "spec.pools[0]"
	if len(kept) > 2 && !whole || len(now) > 2 {
		t.Fatalf("%s: changed %q to %q", path, kept, now)
	}
}

func decoded(t *testing.T, value any) any {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// FuzzEdit: whatever the file, an edit is refused or says what was asked for.
func FuzzEdit(f *testing.F) {
	f.Add([]byte(example), "spec.version", "v1.36.4")
	f.Add([]byte(short), "spec.pools[0].name", "a")
	f.Add([]byte("kind: ClusterClaim\nspec: {a: [1, {b: 'c'}], d: \"e\" }\n"), "spec.a[1].b", "x")
	f.Add([]byte("? kind\n: ClusterClaim\nspec: |\n  a\n"), "spec", "y")
	f.Add([]byte("{kind: ClusterClaim}"), "spec.x", "1")
	f.Fuzz(func(t *testing.T, content []byte, path, value string) {
		before := bytes.Clone(content)
		after, err := edit.Set(content, path, value)
		if !bytes.Equal(before, content) {
			t.Error("the input was changed")
		}
		if err != nil {
			return
		}
		if got, err := edit.Get(after, path); err != nil || got != value {
			t.Errorf("%s is %v, not %q (%v)\n%s", path, got, value, err, after)
		}
		if _, err := edit.Delete(content, path); err != nil && !errors.Is(err, edit.ErrForm) {
			t.Error(err)
		}
	})
}
