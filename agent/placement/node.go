package placement

import (
	"time"

	"kubehenge.dev/proxmox"
)

// How long a node must be in a state until that counts for clusters that have nothing to place.
const (
	// graceDown is how long a node may be away: a node that restarts, or flaps, changes no list.
	graceDown = 45 * time.Second
	// graceUp is how long a node that was away must be back. Its services come up after its membership does.
	graceUp = 30 * time.Second
)

// state is how a node has been lately.
type state int

const (
	// up: it answers, and did for long enough.
	up state = iota
	// rising: it answers again, and may go away again.
	rising
	// falling: it does not answer, but may be back at once.
	falling
	// down: it does not answer.
	down
)

func (s state) online() bool { return s == up || s == rising }

// node is a Proxmox VE node as it matters here.
type node struct {
	name  string
	state state
	// total is its memory in bytes and free what of it is not spoken for; both 0 while that is not known.
	total, free int64
}

// history remembers since when each node has been as it is. A process that has just started takes a node that answers
// for one that always did, and one that does not for one that has just gone.
type history map[string]*spell

// spell is an uninterrupted time of being online, or of not being.
type spell struct {
	online bool
	since  time.Time
	// always is true for a node that was online when it was first seen.
	always bool
}

// see takes a look at all nodes over and says how each is.
func (h history) see(nodes []proxmox.Node, now time.Time) map[string]state {
	states := make(map[string]state, len(nodes))
	for _, n := range nodes {
		s := h[n.Name]
		if s == nil {
			s = &spell{online: n.Online, since: now, always: n.Online}
			h[n.Name] = s
		}
		if s.online != n.Online {
			*s = spell{online: n.Online, since: now}
		}
		states[n.Name] = s.state(now)
	}
	for name := range h {
		if _, there := states[name]; !there {
			delete(h, name) // it left the Proxmox VE cluster
		}
	}
	return states
}

func (s *spell) state(now time.Time) state {
	long := now.Sub(s.since)
	switch {
	case s.online && (s.always || long >= graceUp):
		return up
	case s.online:
		return rising
	case long < graceDown:
		return falling
	}
	return down
}
