package allocation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubehenge.dev/api/v1alpha1"
)

const pool = "kubehenge/team-a.shop"

func sample(t *testing.T) block {
	return block{network: "lan", nodes: must(t, "10.0.41.10-10.0.41.19", "10.0.41.30"), vmIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
}

func TestCommentIsReadableAndRoundTrips(t *testing.T) {
	b := sample(t)
	text := b.format(pool)
	const want = "[kubehenge: network lan; nodes 10.0.41.10-10.0.41.19, 10.0.41.30; VMIDs 20000-20099; check "
	if !strings.HasPrefix(text, want) {
		t.Errorf("got %s", text)
	}
	got, err := parseComment(pool, "Shop of team A. "+text+" Call Ann first.")
	if err != nil || got.format(pool) != text {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestPeoplesTextIsKept(t *testing.T) {
	b := sample(t)
	old := block{network: "lan", nodes: must(t, "10.0.41.10"), vmIDs: b.vmIDs}
	for name, c := range map[string][2]string{
		"nothing there":     {"", b.format(pool)},
		"only blanks":       {"  ", b.format(pool)},
		"text before":       {"Shop, cost centre [42]", "Shop, cost centre [42] " + b.format(pool)},
		"an old allocation": {"Ä " + old.format(pool) + " after\nit", "Ä " + b.format(pool) + " after\nit"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c[1], b.comment(pool, c[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoEditGoesUnnoticed changes, drops and doubles every byte of the allocation.
func TestNoEditGoesUnnoticed(t *testing.T) {
	text := sample(t).format(pool)
	try := func(edited string) {
		if got, err := parseComment(pool, edited); err == nil && !strings.Contains(edited, text) {
			t.Errorf("%s was read as %s", edited, got.format(pool))
		}
	}
	for i := range text {
		try(text[:i] + text[i+1:])
		try(text[:i] + text[i:i+1] + text[i:])
		for _, c := range "0123456789abcdef.:;, -]" {
			try(text[:i] + string(c) + text[i+1:])
		}
	}
	try(text + text)
	if _, err := parseComment("kubehenge/team-a.other", text); err == nil {
		t.Error("a comment copied to another pool was taken")
	}
	if _, err := parseComment(pool, "a pool of people's own"); !errors.Is(err, errNoBlock) {
		t.Errorf("got %v", err)
	}
}

func FuzzComment(f *testing.F) {
	b := block{network: "lan", vmIDs: v1alpha1.IDRange{Start: 100, End: 199}}
	b.nodes, _ = parseSpans([]string{"fd00::1-fd00::9", "10.0.0.1"})
	f.Add(pool, b.format(pool))
	f.Add(pool, "x "+b.format(pool)+" y")
	f.Add("", "[kubehenge: network ; nodes ; VMIDs 1-2; check 00000000]")
	f.Fuzz(func(t *testing.T, pool, comment string) {
		got, err := parseComment(pool, comment)
		if err != nil {
			return
		}
		if !strings.Contains(comment, got.format(pool)) || got.nodes.count() < 1 || got.vmIDs.End < got.vmIDs.Start {
			t.Fatalf("%q was read as %+v", comment, got)
		}
		grown := got
		grown.nodes = join(append(slices.Clone(got.nodes), span{got.nodes[0].first, got.nodes[0].first}))
		again, err := parseComment(pool, grown.comment(pool, comment))
		if err != nil || again.format(pool) != got.format(pool) {
			t.Fatalf("%q written again: %v", comment, err)
		}
	})
}
