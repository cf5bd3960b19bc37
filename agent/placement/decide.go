package placement

import (
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/agent/status"
)

// decision is what is found for a cluster.
type decision struct {
	// nodes are the list, sorted. Empty: there is none to give.
	nodes []string
	// keep is true where what is listed stays whatever nodes says.
	keep bool
	// crowded is true while no node has room, and so all are listed.
	crowded bool
	// notice is said at the claim; nil when there is nothing to say.
	notice *status.Notice
}

// decide chooses the nodes of a cluster. crowded is what the last decision for it said.
//
// A cluster that is about to place machines gets the nodes that are online at this moment, since capmox asks each node
// of the list and one that does not answer is enough to leave a VM half made. For all others a node has to be away for
// 45 seconds, so that a short outage changes no cluster at all; as soon as a machine is to be made, they are looked at
// anew. A node that was away comes back into lists after 30 seconds. In between, what is listed stays listed.
func decide(l *look, s subject, crowded bool) decision {
	if !l.quorate {
		return decision{keep: true, notice: waiting(s, "Proxmox VE has lost its quorum: most of its nodes are offline")}
	}
	candidates := l.candidates(s)
	if len(candidates) == 0 {
		// capmox cannot be told "nowhere": an empty list means the template's node. The old one stays, and a cluster
		// that is not made yet waits at the hook.
		return decision{keep: s.made, notice: waiting(s, noneOnline(l, s))}
	}
	roomy := slices.DeleteFunc(slices.Clone(candidates), func(n node) bool { return !s.fits(n, crowded) })
	if len(roomy) == 0 {
		return decision{nodes: names(candidates), crowded: true, notice: noRoom(candidates, s)}
	}
	return decision{nodes: names(roomy)}
}

// candidates are the nodes that may take machines as far as being online goes.
func (l *look) candidates(s subject) []node {
	var in, back []node
	for _, n := range l.nodes {
		if len(s.allowed) > 0 && !slices.Contains(s.allowed, n.name) {
			continue
		}
		if n.state.online() {
			back = append(back, n)
		}
		if s.takes(n) {
			in = append(in, n)
		}
	}
	if len(in) == 0 {
		return back // a node that has just come back is better than none
	}
	return in
}

// takes is true for a node that stays in the list, or comes in, as far as being online goes.
func (s subject) takes(n node) bool {
	listed := slices.Contains(s.listed, n.name)
	switch n.state {
	case up:
		return true
	case rising:
		return listed
	case falling:
		return listed && !s.placing
	default:
		return false
	}
}

// fits is true for a node with room for the largest machine. One that has none at present needs a quarter more than
// that to be listed again, so that a list does not change to and fro.
func (s subject) fits(n node, crowded bool) bool {
	need := s.need
	if s.known && (crowded || !slices.Contains(s.listed, n.name)) {
		need += need / 4
	}
	return n.total == 0 || n.free >= need
}

func names(nodes []node) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = n.name
	}
	slices.Sort(out)
	return out
}

// waiting is a notice for a cluster that is about to place machines; others need not be told.
func waiting(s subject, sentence string) *status.Notice {
	if !s.placing {
		return nil
	}
	return &status.Notice{Kind: status.Waiting, Sentence: sentence}
}

func noneOnline(l *look, s subject) string {
	var missing []string
	for _, name := range s.allowed {
		if _, there := l.node(name); !there {
			missing = append(missing, name)
		}
	}
	switch {
	case len(s.allowed) == 0:
		return "No Proxmox VE node is online"
	case len(missing) == len(s.allowed):
		return "Proxmox VE has no node " + list(missing, "or") + "; the claim or the Fleet allows no other"
	}
	return "None of the Proxmox VE nodes that the claim or the Fleet allows is online: " + list(s.allowed, "and")
}

// noRoom names each node with what it has left, in whole GiB. Nothing but a person's work helps where the machine is
// larger than every node.
func noRoom(candidates []node, s subject) *status.Notice {
	var free, total []string
	larger := true
	for _, n := range candidates {
		larger = larger && n.total < s.need
		free = append(free, fmt.Sprintf("%s has %d GiB free", n.name, n.free>>30))
		total = append(total, fmt.Sprintf("%s has %d GiB", n.name, n.total>>30))
	}
	if larger {
		return &status.Notice{Kind: status.Terminal, Sentence: fmt.Sprintf(
			"A machine of %s is larger than every Proxmox VE node it may go to: %s", size(s.need), list(total, "and"))}
	}
	return waiting(s, fmt.Sprintf("No Proxmox VE node has room for a machine of %s, so nodes are overcommitted: %s", size(s.need), list(free, "and")))
}

// size is an amount of memory in GiB, with a fraction where there is one.
func size(bytes int64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", float64(bytes)/(1<<30)), "0"), ".") + " GiB"
}

func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
