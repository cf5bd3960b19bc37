package corner

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kubehenge.dev/proxmox"
)

func TestWhatIsDoneAboutTokens(t *testing.T) {
	at := func(name, clock, nonce string) mark {
		made, err := time.Parse(time.TimeOnly, clock)
		if err != nil {
			t.Fatal(err)
		}
		return mark{name: name, made: made, nonce: nonce}
	}
	token := func(m mark) proxmox.Token { return proxmox.Token{Name: m.name, Comment: m.comment(), Separated: true} }
	first, second := at("cluster", "12:00:00", "00000001"), at("cluster-2", "13:00:00", "00000002")
	ended, whole := token(first), token(first)
	ended.Expire, whole.Separated = second.made, false
	by := func(name, comment string) proxmox.Token {
		return proxmox.Token{Name: name, Comment: comment, Separated: true}
	}
	for name, c := range map[string]struct {
		in       tokens
		want     plan
		leftover string
	}{
		"nothing is there": {tokens{}, plan{why: "token cluster", make: "cluster"}, ""},
		"a crash left a token that nobody knows": {tokens{present: []proxmox.Token{token(first)}},
			plan{why: "token cluster", drop: []string{"cluster"}, make: "cluster"}, ""},
		"all is well":                      {tokens{present: []proxmox.Token{token(first)}, stored: &first, delivered: true}, plan{}, ""},
		"a stranger's token is left alone": {tokens{present: []proxmox.Token{token(first), by("mine", "")}, stored: &first, delivered: true}, plan{}, ""},
		"a token is asked for": {tokens{present: []proxmox.Token{token(first)}, stored: &first, wanted: "asked"},
			plan{why: "asked", make: "cluster-2", rotation: true}, ""},
		"a crash left the second token unstored": {tokens{present: []proxmox.Token{token(first), token(second)}, stored: &first, wanted: "asked"},
			plan{why: "asked", drop: []string{"cluster-2"}, make: "cluster-2", rotation: true}, "cluster-2"},
		"the first waits for the second to arrive": {tokens{present: []proxmox.Token{token(first), token(second)}, stored: &second, former: &first}, plan{}, "cluster"},
		"nothing new begins meanwhile": {tokens{present: []proxmox.Token{token(first), token(second)}, stored: &second, former: &first, wanted: "asked again"},
			plan{rotation: true}, "cluster"},
		"the names take turns": {tokens{present: []proxmox.Token{token(second)}, stored: &second, former: &first, wanted: "asked"},
			plan{why: "asked", make: "cluster", rotation: true}, ""},
		"the token was deleted": {tokens{stored: &first, delivered: true}, plan{why: "token cluster", make: "cluster"}, ""},
		"the token was made anew by hand": {tokens{present: []proxmox.Token{by("cluster", "mine")}, stored: &first, delivered: true},
			plan{why: "token cluster", drop: []string{"cluster"}, make: "cluster"}, ""},
		"the token was given an end": {tokens{present: []proxmox.Token{ended}, stored: &first},
			plan{why: "token cluster, which was changed", make: "cluster-2"}, ""},
		"the token was given all of its user's rights": {tokens{present: []proxmox.Token{whole}, stored: &first},
			plan{why: "token cluster, which was changed", make: "cluster-2"}, ""},
		"the new token was deleted amid a rotation": {tokens{present: []proxmox.Token{token(first)}, stored: &second, former: &first, delivered: true},
			plan{why: "token cluster-2", make: "cluster-2"}, ""},
		"the former token was deleted amid a rotation": {tokens{present: []proxmox.Token{token(second)}, stored: &second, former: &first, delivered: true}, plan{}, ""},
		"both were":          {tokens{stored: &second, former: &first, delivered: true}, plan{why: "token cluster-2", make: "cluster-2"}, ""},
		"the Secret is lost": {tokens{present: []proxmox.Token{token(first)}, delivered: true}, plan{why: "Secret with the token", make: "cluster-2"}, ""},
		"the Secret is lost amid a rotation": {tokens{present: []proxmox.Token{token(first), token(second)}, delivered: true},
			plan{why: "Secret with the token", drop: []string{"cluster-2"}, make: "cluster-2"}, ""},
		"the Secret is lost amid a rotation back": {tokens{present: []proxmox.Token{token(at("cluster", "14:00:00", "00000003")), token(second)}, delivered: true},
			plan{why: "Secret with the token", drop: []string{"cluster"}, make: "cluster"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.in.decide()
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(plan{}), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if left := c.in.leftover(); left != c.leftover {
				t.Errorf("left over: %q, want %q", left, c.leftover)
			}
		})
	}
}

func TestMarksAreReadAsTheyAreWritten(t *testing.T) {
	m := newMark("cluster-2", time.Date(2026, 11, 30, 12, 0, 0, 123, time.FixedZone("x", 3600)))
	if got, ok := markOf(proxmox.Token{Name: "cluster-2", Comment: m.comment()}); !ok || got != m {
		t.Errorf("comment %q is read as %+v", m.comment(), got)
	}
	if got, ok := parseMark(m.String()); !ok || got != m {
		t.Errorf("annotation %q is read as %+v", m, got)
	}
	for _, bad := range []string{"", "cluster", "cluster 2026-11-30T12:00:00Z", "root 2026-11-30T12:00:00Z 00000001", "cluster yesterday 00000001", "cluster 2026-11-30T12:00:00Z 0000000g", "cluster 2026-11-30T12:00:00Z 00000001\n"} {
		if got, ok := parseMark(bad); ok {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
	for _, bad := range []string{"", "mine", "Kubehenge: made now; 00000001", "x Kubehenge: made 2026-11-30T12:00:00Z; 00000001"} {
		if got, ok := markOf(proxmox.Token{Name: "cluster", Comment: bad}); ok {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}
