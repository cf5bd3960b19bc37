package placement

import (
	"cmp"
	"slices"
	"time"

	"kubehenge.dev/proxmox"
)

// look is what one call to Proxmox VE showed, as far as lists depend on it. It is never changed.
type look struct {
	at time.Time
	// nodes are all nodes by name.
	nodes []node
	// quorate is false when so few nodes are online that the one that answered must have lost the others: nothing can
	// be made then, and what it says of them is no ground for a change.
	quorate bool
	// templates are the guests that may be meant as VM templates of ours.
	templates []proxmox.Machine
}

// newLook takes what Proxmox VE showed together with what is known of earlier looks.
func newLook(r proxmox.Resources, h history, now time.Time) *look {
	l := &look{at: now}
	states, free := h.see(r.Nodes, now), freeMemory(r.Nodes, r.Machines)
	online := 0
	for _, n := range r.Nodes {
		if n.Online {
			online++
		}
		l.nodes = append(l.nodes, node{name: n.Name, state: states[n.Name], total: n.MemoryBytes, free: free[n.Name]})
	}
	slices.SortFunc(l.nodes, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	l.quorate = 2*online >= len(r.Nodes)
	for _, m := range r.Machines {
		if mayBeTemplate(&m) {
			l.templates = append(l.templates, m)
		}
	}
	slices.SortFunc(l.templates, func(a, b proxmox.Machine) int { return cmp.Compare(a.VMID, b.VMID) })
	return l
}

// step is how finely free memory is compared between two looks, in bytes.
const step = 256 << 20

// same is true when no list can differ between two looks, unless by less than a step of memory.
func (l *look) same(o *look) bool {
	if o == nil || l.quorate != o.quorate || !slices.EqualFunc(l.nodes, o.nodes, sameNode) {
		return false
	}
	return slices.EqualFunc(l.templates, o.templates, func(a, b proxmox.Machine) bool {
		return a.VMID == b.VMID && a.Node == b.Node && a.TagText == b.TagText && a.Template == b.Template && a.Status == b.Status
	})
}

func sameNode(a, b node) bool {
	return a.name == b.name && a.state == b.state && a.total == b.total && a.free/step == b.free/step
}

// node finds a node by its name.
func (l *look) node(name string) (node, bool) {
	i := slices.IndexFunc(l.nodes, func(n node) bool { return n.name == name })
	if i < 0 {
		return node{}, false
	}
	return l.nodes[i], true
}
