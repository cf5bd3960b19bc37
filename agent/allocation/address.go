package allocation

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strings"
)

// span is a range of addresses of one family, both ends included. IPv6 ranges are large: nothing here walks them.
type span struct{ first, last netip.Addr }

// spans are sorted, disjoint and not adjacent, once they went through join.
type spans []span

// parseSpan reads a single address or first-last.
func parseSpan(s string) (span, error) {
	from, to, isRange := strings.Cut(s, "-")
	first, err := parseAddress(from)
	if err != nil || !isRange {
		return span{first, first}, err
	}
	last, err := parseAddress(to)
	if err != nil {
		return span{}, err
	}
	if first.BitLen() != last.BitLen() || last.Less(first) {
		return span{}, fmt.Errorf("%q is not a range from a lower to a higher address", s)
	}
	return span{first, last}, nil
}

func parseAddress(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" || a.Is4In6() {
		return netip.Addr{}, fmt.Errorf("%q is neither an IPv4 nor an IPv6 address", s)
	}
	return a, nil
}

// parseSpans reads a list, as the Fleet and an Allocation have it.
func parseSpans(list []string) (spans, error) {
	var all spans
	for _, s := range list {
		one, err := parseSpan(s)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return join(all), nil
}

// String is the form that parseSpan reads.
func (s span) String() string {
	if s.first == s.last {
		return s.first.String()
	}
	return s.first.String() + "-" + s.last.String()
}

// strings is the list that parseSpans reads.
func (s spans) strings() []string {
	list := make([]string, 0, len(s))
	for _, one := range s {
		list = append(list, one.String())
	}
	return list
}

// join sorts, and merges what overlaps or touches.
func join(list spans) spans {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b span) int { return a.first.Compare(b.first) })
	var joined spans
	for _, s := range sorted {
		if n := len(joined); n > 0 && joined[n-1].reaches(s) {
			if joined[n-1].last.Less(s.last) {
				joined[n-1].last = s.last
			}
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// reaches reports whether next, which does not begin before s, overlaps s or begins right after it.
func (s span) reaches(next span) bool {
	return s.first.BitLen() == next.first.BitLen() && (!s.last.Less(next.first) || s.last.Next() == next.first)
}

func (s span) overlaps(o span) bool {
	return s.first.BitLen() == o.first.BitLen() && !s.last.Less(o.first) && !o.last.Less(s.first)
}

// without is s less what others hold; both joined.
func (s spans) without(others spans) spans {
	var left spans
	for _, one := range s {
		rest, gone := one, false
		for _, o := range others {
			if !rest.overlaps(o) {
				continue
			}
			if rest.first.Less(o.first) {
				left = append(left, span{rest.first, o.first.Prev()})
			}
			if !o.last.Less(rest.last) {
				gone = true
				break
			}
			rest.first = o.last.Next()
		}
		if !gone {
			left = append(left, rest)
		}
	}
	return left
}

// covers reports whether every address of o is in s.
func (s spans) covers(o spans) bool { return len(o.without(s)) == 0 }

// count is the number of addresses; math.MaxInt stands for all that is more.
func (s spans) count() int {
	total := 0
	for _, one := range s {
		n := one.count()
		if n > math.MaxInt-total {
			return math.MaxInt
		}
		total += n
	}
	return total
}

func (s span) count() int {
	firstHigh, firstLow := halves(s.first)
	lastHigh, lastLow := halves(s.last)
	low, borrow := bits.Sub64(lastLow, firstLow, 0)
	high, _ := bits.Sub64(lastHigh, firstHigh, borrow)
	if high != 0 || low >= math.MaxInt {
		return math.MaxInt
	}
	return int(low) + 1
}

// head is the first n addresses of s, which has at least n; n is at least 1.
func (s span) head(n int) span {
	high, low := halves(s.first)
	low, carry := bits.Add64(low, uint64(n-1), 0)
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], high+carry)
	binary.BigEndian.PutUint64(raw[8:], low)
	last := netip.AddrFrom16(raw)
	if s.first.Is4() {
		last = last.Unmap()
	}
	return span{s.first, last}
}

func halves(a netip.Addr) (high, low uint64) {
	raw := a.As16()
	return binary.BigEndian.Uint64(raw[:8]), binary.BigEndian.Uint64(raw[8:])
}

// grow takes n of the free addresses for a cluster that has own: first those right behind its own, so that slices
// stay in one piece, then the first gap that holds the rest, then whatever there is from the lowest on. There are n.
func grow(own, free spans, n int) spans {
	for _, o := range own {
		for _, f := range free {
			if n > 0 && o.last.Next() == f.first {
				piece := f.head(min(n, f.count()))
				own, n = append(slices.Clone(own), piece), n-piece.count()
			}
		}
	}
	free = free.without(join(own))
	if i := slices.IndexFunc(free, func(f span) bool { return f.count() >= n }); i > 0 {
		free = free[i:]
	}
	for _, f := range free {
		if n > 0 {
			piece := f.head(min(n, f.count()))
			own, n = append(slices.Clone(own), piece), n-piece.count()
		}
	}
	return join(own)
}
