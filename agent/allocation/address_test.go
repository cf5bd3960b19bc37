package allocation

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, list ...string) spans {
	t.Helper()
	s, err := parseSpans(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseSpan(t *testing.T) {
	for _, bad := range []string{"", "x", "10.0.0.1-", "-10.0.0.1", "10.0.0.2-10.0.0.1", "10.0.0.1-fd00::1", "10.0.0.0/24", "10.0.0.1 - 10.0.0.2", "fe80::1%eth0", "::ffff:10.0.0.1", "10.0.0.1-10.0.0.2-10.0.0.3"} {
		if s, err := parseSpan(bad); err == nil {
			t.Errorf("%q was read as %s", bad, s)
		}
	}
	got := must(t, "10.0.0.7", "10.0.0.4-10.0.0.6", "10.0.0.1", "fd00::2-fd00::ff", "10.0.0.5-10.0.0.9", "fd00::1").strings()
	if diff := cmp.Diff([]string{"10.0.0.1", "10.0.0.4-10.0.0.9", "fd00::1-fd00::ff"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEdgesOfTheAddressSpace(t *testing.T) {
	all4, all6 := must(t, "0.0.0.0-255.255.255.255"), must(t, "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
	if got := all4.count(); got != 1<<32 {
		t.Errorf("%d IPv4 addresses", got)
	}
	if got := all6.count(); got != math.MaxInt {
		t.Errorf("%d IPv6 addresses", got)
	}
	if got := append(slices.Clone(all4), all6...).count(); got != math.MaxInt {
		t.Errorf("%d addresses", got)
	}
	if got := all4.without(must(t, "0.0.0.0", "255.255.255.255")).strings(); !slices.Equal(got, []string{"0.0.0.1-255.255.255.254"}) {
		t.Errorf("got %v", got)
	}
	if got := must(t, "fd00::ffff:ffff:ffff:fffe-fd00:0:0:2::")[0].head(4).String(); got != "fd00::ffff:ffff:ffff:fffe-fd00:0:0:1::1" {
		t.Errorf("got %s", got)
	}
	last := must(t, "255.255.255.250-255.255.255.255")
	if got := grow(must(t, "255.255.255.255"), last.without(must(t, "255.255.255.255")), 2).strings(); !slices.Equal(got, []string{"255.255.255.250-255.255.255.251", "255.255.255.255"}) {
		t.Errorf("got %v", got)
	}
}

func TestGrowKeepsSlicesInOnePieceWhereItCan(t *testing.T) {
	for name, c := range map[string]struct {
		own, free []string
		n         int
		want      []string
	}{
		"a new slice is the first gap that holds it":     {nil, []string{"10.0.0.1-10.0.0.3", "10.0.0.10-10.0.0.19"}, 5, []string{"10.0.0.10-10.0.0.14"}},
		"a slice grows at its end":                       {[]string{"10.0.0.5-10.0.0.6"}, []string{"10.0.0.1-10.0.0.4", "10.0.0.7-10.0.0.20"}, 2, []string{"10.0.0.5-10.0.0.8"}},
		"what does not fit behind it goes to a gap":      {[]string{"10.0.0.5"}, []string{"10.0.0.1", "10.0.0.6", "10.0.0.10-10.0.0.13"}, 4, []string{"10.0.0.5-10.0.0.6", "10.0.0.10-10.0.0.12"}},
		"where no gap holds it, it is taken from all":    {nil, []string{"10.0.0.1", "10.0.0.3", "10.0.0.5-10.0.0.6"}, 4, []string{"10.0.0.1", "10.0.0.3", "10.0.0.5-10.0.0.6"}},
		"IPv6 likewise, however large the gap":           {[]string{"fd00::1"}, []string{"fd00::2-fdff::"}, 3, []string{"fd00::1-fd00::4"}},
		"both families may be mixed, if a Fleet does it": {[]string{"10.0.0.1"}, []string{"fd00::1-fd00::9"}, 1, []string{"10.0.0.1", "fd00::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, grow(must(t, c.own...), must(t, c.free...), c.n).strings()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSetsAgainstSingleAddresses compares every operation with sets of the 64 addresses of a small net.
func TestSetsAgainstSingleAddresses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		a, b := randomSpans(rng), randomSpans(rng)
		inA, inB := members(a), members(b)
		left := a.without(b)
		for i := range 64 {
			if in := members(left)[i]; in != (inA[i] && !inB[i]) {
				t.Fatalf("%s without %s is %s", a.strings(), b.strings(), left.strings())
			}
		}
		free, n := left, 0
		if c := free.count(); c > 0 {
			n = 1 + rng.IntN(c)
		}
		grown := grow(b, free, n)
		if grown.count() != b.count()+n || !grown.covers(b) || !join(append(slices.Clone(b), free...)).covers(grown) {
			t.Fatalf("%s grown by %d of %s is %s", b.strings(), n, free.strings(), grown.strings())
		}
	}
}

func randomSpans(rng *rand.Rand) spans {
	var list spans
	for range rng.IntN(5) {
		first := rng.IntN(64)
		last := first + rng.IntN(64-first)
		list = append(list, span{netip.AddrFrom4([4]byte{10, 0, 0, byte(first)}), netip.AddrFrom4([4]byte{10, 0, 0, byte(last)})})
	}
	return join(list)
}

func members(s spans) (in [64]bool) {
	for _, one := range s {
		for i := one.first.As4()[3]; i <= one.last.As4()[3]; i++ {
			in[i] = true
		}
	}
	return in
}

func FuzzParseSpan(f *testing.F) {
	for _, s := range []string{"10.0.0.1", "10.0.0.1-10.0.0.9", "fd00::1-fd00::ff", "::", "1.1.1.1-", "0.0.0.0-255.255.255.255"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSpan(text)
		if err != nil {
			return
		}
		again, err := parseSpan(s.String())
		if err != nil || again != s || s.last.Less(s.first) || s.count() < 1 {
			t.Fatalf("%q is %s, then %s, %v", text, s, again, err)
		}
	})
}
