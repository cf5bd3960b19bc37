package problem_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/render/problem"
)

func TestNearest(t *testing.T) {
	known := []string{"controlPlane", "workers", "version", "vlan", "disk"}
	for name, want := range map[string]string{
		"controlPlan": "controlPlane", "control_plane": "controlPlane", "wrokers": "workers", "Version": "version",
		"vlna": "vlan", "colour": "", "x": "", "": "", "disc": "disk", "diskspace": "",
	} {
		if got := problem.Nearest(name, known); got != want {
			t.Errorf("%q is like %q, not %q", name, got, want)
		}
	}
}

func TestString(t *testing.T) {
	for want, p := range map[string]problem.Problem{
		"a.yaml:7: spec.x: no": {Path: "a.yaml", Line: 7, Field: "spec.x", Message: "no"},
		"a.yaml: no and no":    {Path: "a.yaml", Message: "no and\nno"},
		"a.yaml: spec.x: no":   {Path: "a.yaml", Field: "spec.x", Message: "no"},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestSort(t *testing.T) {
	got := problem.Sort([]problem.Problem{{Path: "b"}, {Path: "a", Line: 2}, {Path: "a", Line: 1, Field: "y"}, {Path: "a", Line: 1, Field: "x"}, {Path: "b"}})
	want := []problem.Problem{{Path: "a", Line: 1, Field: "x"}, {Path: "a", Line: 1, Field: "y"}, {Path: "a", Line: 2}, {Path: "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
