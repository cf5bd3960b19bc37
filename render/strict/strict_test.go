package strict_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/render/strict"
)

type size struct {
	Size string `json:"size,omitempty"`
}

type pool struct {
	Name     string `json:"name"`
	Replicas int32  `json:"replicas"`
	size
	Size2 size `json:"-"`
}

type doc struct {
	Pools  []pool            `json:"pools,omitempty"`
	One    *pool             `json:"one,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	On     bool              `json:"on,omitempty"`
}

func TestDecode(t *testing.T) {
	var got doc
	issues := strict.Decode(map[string]any{
		"pools": []any{map[string]any{"name": "a", "replicas": int64(3), "size": "s"}, map[string]any{"name": "b", "replicas": float64(2)}},
		"one":   nil, "labels": map[string]any{"a": "b"}, "on": true,
	}, &got)
	want := doc{Pools: []pool{{Name: "a", Replicas: 3, size: size{"s"}}, {Name: "b", Replicas: 2}}, Labels: map[string]string{"a": "b"}, On: true}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(pool{})); diff != "" || len(issues) > 0 {
		t.Error(diff, issues)
	}
}

func TestDecodeTellsEveryIssue(t *testing.T) {
	var got doc
	issues := strict.Decode(map[string]any{
		"pools":  []any{map[string]any{"nmae": "a", "replicas": int64(1) << 40}, "x"},
		"one":    []any{},
		"labels": map[string]any{"a.b/c": int64(1)},
		"on":     "yes",
	}, &got)
	want := []strict.Issue{
		{Field: `labels["a.b/c"]`, Message: "must be a string, is the number 1"},
		{Field: "on", Message: `must be true or false, is the string "yes"`},
		{Field: "one", Message: "must be a map of fields, is a list"},
		{Field: "pools[0].nmae", Message: "unknown field; did you mean name?"},
		{Field: "pools[0].replicas", Message: "must be a whole number, is the number 1099511627776"},
		{Field: "pools[1]", Message: `must be a map of fields, is the string "x"`},
	}
	if diff := cmp.Diff(want, issues); diff != "" {
		t.Error(diff)
	}
}

func TestSteps(t *testing.T) {
	for field, want := range map[string][]string{
		"spec.pools[1].name":         {"spec", "pools", "1", "name"},
		`metadata.labels["a.b/c"].x`: {"metadata", "labels", "a.b/c", "x"},
		`metadata.labels["a`:         {"metadata", "labels", `["a`},
		"":                           nil,
		"a..b":                       {"a", "b"},
		"a[":                         {"a", ""},
	} {
		if got := strict.Steps(field); !slices.Equal(got, want) {
			t.Errorf("%q: %q", field, got)
		}
	}
}

func TestLocate(t *testing.T) {
	patch := strict.Source{Path: "patch", Content: []byte("kind: A\nspec:\n  x: 1\n"), Offset: 10}
	file := strict.Source{Path: "file", Content: []byte("kind: B\n---\nkind: A\nspec:\n  x: 2\n  list:\n  - name: n\n")}
	for field, want := range map[string]struct {
		path string
		line int
	}{
		"spec.x":            {"patch", 13},
		"spec.list[0].name": {"file", 7},
		"spec.y":            {"patch", 12},
		"metadata":          {"patch", 11},
	} {
		path, line := strict.Locate([]strict.Source{patch, file}, "A", field)
		if path != want.path || line != want.line {
			t.Errorf("%s is at %s:%d", field, path, line)
		}
	}
	if path, line := strict.Locate([]strict.Source{file}, "C", "spec"); path != "file" || line != 0 {
		t.Errorf("nothing is at %s:%d", path, line)
	}
}
