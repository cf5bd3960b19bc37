// Package address computes with IP addresses written as people write them: single addresses and first-last ranges.
package address

import (
	"fmt"
	"math/big"
	"net/netip"
	"strings"
)

// Range is the addresses from First to Last, both included.
type Range struct{ First, Last netip.Addr }

// Parse reads "10.0.40.10" or "10.0.40.10-10.0.40.19".
func Parse(text string) (Range, error) {
	first, last, found := strings.Cut(text, "-")
	if !found {
		last = first
	}
	a, err := netip.ParseAddr(strings.TrimSpace(first))
	if err != nil {
		return Range{}, fmt.Errorf("%q is neither an IP address nor a range first-last", text)
	}
	b, err := netip.ParseAddr(strings.TrimSpace(last))
	if err != nil {
		return Range{}, fmt.Errorf("%q is neither an IP address nor a range first-last", text)
	}
	switch {
	case a.Zone() != "" || b.Zone() != "" || a.Is4In6() || b.Is4In6():
		return Range{}, fmt.Errorf("%q must be plain IPv4 or IPv6 addresses, without a zone", text)
	case a.Is4() != b.Is4():
		return Range{}, fmt.Errorf("%q mixes IPv4 and IPv6", text)
	case b.Less(a):
		return Range{}, fmt.Errorf("%q ends before it begins", text)
	}
	return Range{First: a, Last: b}, nil
}

// String writes the range as Parse reads it.
func (r Range) String() string {
	if r.First == r.Last {
		return r.First.String()
	}
	return r.First.String() + "-" + r.Last.String()
}

// Contains tells whether the address is in the range.
func (r Range) Contains(a netip.Addr) bool {
	return a.Is4() == r.First.Is4() && !a.Less(r.First) && !r.Last.Less(a)
}

// Overlaps tells whether the ranges share an address.
func (r Range) Overlaps(o Range) bool {
	return r.First.Is4() == o.First.Is4() && !r.Last.Less(o.First) && !o.Last.Less(r.First)
}

// In tells whether the whole range lies in the subnet.
func (r Range) In(subnet netip.Prefix) bool {
	return subnet.Contains(r.First) && subnet.Contains(r.Last)
}

// Count is the number of addresses in the range.
func (r Range) Count() *big.Int {
	first, last := r.First.As16(), r.Last.As16()
	n := new(big.Int).Sub(new(big.Int).SetBytes(last[:]), new(big.Int).SetBytes(first[:]))
	return n.Add(n, big.NewInt(1))
}

// Set is a list of ranges.
type Set []Range

// Contains tells whether any range of the set holds the address.
func (s Set) Contains(a netip.Addr) bool {
	for _, r := range s {
		if r.Contains(a) {
			return true
		}
	}
	return false
}

// String writes the ranges with commas between them.
func (s Set) String() string {
	parts := make([]string, len(s))
	for i, r := range s {
		parts[i] = r.String()
	}
	return strings.Join(parts, ", ")
}

// Covers tells whether every address of r is in the set.
func (s Set) Covers(r Range) bool {
	for at := r.First; ; {
		i := s.holding(at)
		if i < 0 {
			return false
		}
		if !s[i].Last.Less(r.Last) {
			return true
		}
		at = s[i].Last.Next()
	}
}

// holding is the index of the range that holds the address and reaches furthest, or -1.
func (s Set) holding(a netip.Addr) int {
	best := -1
	for i, r := range s {
		if r.Contains(a) && (best < 0 || s[best].Last.Less(r.Last)) {
			best = i
		}
	}
	return best
}
