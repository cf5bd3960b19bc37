package render

import (
	"net/netip"
	"slices"
)

// claimed is one thing that two overlays may not share.
type claimed struct {
	what  string // "cluster", "endpoint", or an object's kind
	value string
	field string // where the overlay says so
}

// shares keeps which overlays hold what, and which of them are in each other's way.
type shares struct {
	holders map[string][]*entry // by claimed.key, sorted by path
}

func (c claimed) key() string { return c.what + "\x00" + c.value }

// claims are the things that an overlay holds. What has problems holds its identity and endpoint all the same: its cluster may be running, and
// must not lose them to another.
func (b *built) claims() []claimed {
	var list []claimed
	if b.namespace != "" && b.name != "" {
		list = append(list, claimed{"cluster", b.namespace + "/" + b.name, "metadata.name"})
	}
	if a, err := netip.ParseAddr(b.endpoint); err == nil && b.network != "" {
		list = append(list, claimed{"endpoint", a.String() + " of network " + b.network, "spec.endpoint"})
	}
	for _, o := range b.extras {
		list = append(list, claimed{o.GetKind(), o.GetNamespace() + "/" + o.GetName(), "metadata.name"})
	}
	return list
}

// add and remove keep the holders; each gives the overlays whose conflicts may have changed.
func (s *shares) add(e *entry) []*entry {
	var touched []*entry
	for _, c := range e.claims {
		holders := s.holders[c.key()]
		touched = append(touched, holders...)
		i, _ := slices.BinarySearchFunc(holders, e, compareEntries)
		s.holders[c.key()] = slices.Insert(slices.Clone(holders), i, e)
	}
	return touched
}

func (s *shares) remove(e *entry) []*entry {
	var touched []*entry
	for _, c := range e.claims {
		rest := slices.DeleteFunc(slices.Clone(s.holders[c.key()]), func(other *entry) bool { return other == e })
		touched = append(touched, rest...)
		if len(rest) == 0 {
			delete(s.holders, c.key())
			continue
		}
		s.holders[c.key()] = rest
	}
	return touched
}

// conflicts are the problems that an overlay has with others, each naming the first other's file.
func (s *shares) conflicts(e *entry) []Problem {
	var list []Problem
	identity := false
	for _, c := range e.claims {
		holders := s.holders[c.key()]
		if len(holders) < 2 || identity && c.what != "cluster" {
			continue // the same cluster twice shares everything else too
		}
		identity = identity || c.what == "cluster"
		other := holders[0]
		if other == e {
			other = holders[1]
		}
		kind := "ClusterClaim"
		if c.what != "cluster" && c.what != "endpoint" {
			kind = c.what
		}
		tell := &teller{sources: e.built.sources, kind: kind}
		tell.field(c.field, "the %s %s is also asked for by %s", c.what, c.value, other.built.file)
		list = append(list, tell.problems...)
	}
	return list
}
