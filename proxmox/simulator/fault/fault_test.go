package fault

import (
	"testing"
	"time"
)

func TestRulesMatchInTheirOrder(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r := &Rules{}
	add := func(f Fault) func() {
		remove, err := r.Add(f)
		if err != nil {
			t.Fatal(err)
		}
		return remove
	}
	add(Fault{Who: "a@pve", Path: "/clone$", Skip: 1, Times: 1, Reason: "first"})
	add(Fault{Method: "POST", From: at.Add(time.Minute), Reason: "later"})
	last := add(Fault{Path: "^/", Until: at.Add(time.Hour), Reason: "any"})
	for i, step := range []struct {
		who, method, path string
		after             time.Duration
		want              string
	}{
		{"a@pve", "POST", "/x/clone", 0, "any"}, {"b@pve", "POST", "/x/clone", 0, "any"}, {"a@pve", "POST", "/x/clone", 0, "first"}, {"a@pve", "POST", "/x/clone", 0, "any"},
		{"a@pve", "POST", "/x", time.Minute, "later"}, {"a@pve", "GET", "/x", time.Minute, "any"}, {"a@pve", "GET", "/x", time.Hour, ""},
	} {
		got := ""
		if f := r.Match(step.who, step.method, step.path, at.Add(step.after)); f != nil {
			got = f.Reason
		}
		if got != step.want {
			t.Errorf("call %d: %q, want %q", i, got, step.want)
		}
	}
	last()
	if n := len(r.Active()); n != 1 {
		t.Errorf("%d faults are left", n)
	}
	if r.Clear(); len(r.Active()) != 0 {
		t.Errorf("faults are left after Clear: %+v", r.Active())
	}
}

func TestEffectsThatAreNone(t *testing.T) {
	for text, ok := range map[string]bool{"ha-move 100 pve2": true, "quorum-lost": true, "ha-move 100": false, "": false, "rain": false, "quorum-lost now": false} {
		if _, err := ParseEffect(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		if err := Check(Fault{Effect: text}); text != "" && (err == nil) != ok {
			t.Errorf("a fault with %q: %v", text, err)
		}
	}
}
