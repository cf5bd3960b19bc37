package bench

import (
	"bytes"
	"strings"
	"testing"
)

func TestASmallFleetIsMeasured(t *testing.T) {
	var progress bytes.Buffer
	got, err := Run(t.Context(), Options{Claims: 20, Overlays: 30, Sample: 5, Changes: 3, Parts: []string{"render"}, Out: &progress})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"full render of 20 overlays", "kustomize build of 20 overlays", "kustomize build to full render",
		"full render of 30 overlays", "one changed overlay of 30",
	}
	if len(got.Figures) != len(want) {
		t.Fatalf("%d figures, want %d", len(got.Figures), len(want))
	}
	for i, f := range got.Figures {
		if f.Name != want[i] || f.Value <= 0 {
			t.Errorf("figure %d is %q with %v, want %q with a value", i, f.Name, f.Value, want[i])
		}
	}
	if !strings.Contains(progress.String(), "write a repository of 20 overlays") {
		t.Errorf("progress:\n%s", progress.String())
	}
}

// A fleet with a problem renders faster than one without, so that measuring it would mislead.
func TestAFleetThatDoesNotRenderWholeIsNotMeasured(t *testing.T) {
	f, err := newFleet(t.Context(), t.TempDir(), 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	r := &run{Options: Options{}.withDefaults()}
	if _, _, err := r.fullRender(t.Context(), f, 1, 0); err != nil {
		t.Fatal(err)
	}
	if err := f.push(t.Context(), map[string][]byte{"clusters/team-0/shop-1/claim.yaml": []byte("kind: Nothing\n")}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.fullRender(t.Context(), f, 1, 0); err == nil || !strings.Contains(err.Error(), "clusters/team-0/shop-1") {
		t.Errorf("error %v, want one that names the broken overlay", err)
	}
}
