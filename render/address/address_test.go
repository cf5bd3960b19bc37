package address_test

import (
	"net/netip"
	"testing"

	"kubehenge.dev/render/address"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.1":              "10.0.0.1",
		"10.0.0.1-10.0.0.1":     "10.0.0.1",
		" 10.0.0.1 - 10.0.0.9 ": "10.0.0.1-10.0.0.9",
		"fd00::1-fd00::ff":      "fd00::1-fd00::ff",
		"10.0.0.9-10.0.0.1":     "",
		"10.0.0.1-fd00::1":      "",
		"::ffff:10.0.0.1":       "",
		"fe80::1%eth0":          "",
		"10.0.0.0/24":           "",
		"":                      "",
		"10.0.0.1-":             "",
	} {
		r, err := address.Parse(text)
		if (err == nil) != (want != "") || err == nil && r.String() != want {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
}

func set(t *testing.T, texts ...string) address.Set {
	t.Helper()
	var s address.Set
	for _, text := range texts {
		r, err := address.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, r)
	}
	return s
}

func TestSets(t *testing.T) {
	s := set(t, "10.0.0.10-10.0.0.19", "10.0.0.30", "10.0.0.20-10.0.0.25", "10.0.0.15-10.0.0.22")
	for text, want := range map[string]bool{
		"10.0.0.10-10.0.0.25": true, "10.0.0.18-10.0.0.23": true, "10.0.0.30": true,
		"10.0.0.9-10.0.0.12": false, "10.0.0.20-10.0.0.30": false, "10.0.0.26": false, "fd00::1": false,
	} {
		if got := s.Covers(set(t, text)[0]); got != want {
			t.Errorf("covers %s: %v", text, got)
		}
	}
	if !s.Contains(netip.MustParseAddr("10.0.0.30")) || s.Contains(netip.MustParseAddr("10.0.0.29")) {
		t.Error("Contains is wrong at an edge")
	}
	if got := s.String(); got != "10.0.0.10-10.0.0.19, 10.0.0.30, 10.0.0.20-10.0.0.25, 10.0.0.15-10.0.0.22" {
		t.Error(got)
	}
}

func TestRanges(t *testing.T) {
	a := set(t, "10.0.0.10-10.0.0.19")[0]
	for text, want := range map[string]bool{"10.0.0.19-10.0.0.30": true, "10.0.0.1-10.0.0.10": true, "10.0.0.20": false, "10.0.0.9": false, "fd00::1": false} {
		b := set(t, text)[0]
		if a.Overlaps(b) != want || b.Overlaps(a) != want {
			t.Errorf("overlap with %s", text)
		}
	}
	if n := a.Count().Int64(); n != 10 {
		t.Errorf("counts %d", n)
	}
	if !a.In(netip.MustParsePrefix("10.0.0.0/27")) || a.In(netip.MustParsePrefix("10.0.0.0/28")) {
		t.Error("In is wrong at an edge")
	}
}
