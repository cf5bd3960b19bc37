package allocation

import (
	"errors"
	"fmt"
	"slices"

	"kubehenge.dev/api/v1alpha1"
)

// Request is what a cluster needs.
type Request struct {
	// Namespace and Name are the cluster's.
	Namespace, Name string
	// Fleet holds the network's node addresses, the VMID range and the workload pool; defaulted.
	Fleet *v1alpha1.Fleet
	// Network is the Fleet's network that the claim names.
	Network string
	// Nodes is how many addresses are needed: all nodes, and what a rolling update needs at once.
	Nodes int
	// ClusterExists is whether the management cluster holds the Cluster, as of now.
	ClusterExists bool
	// Known is the allocation that the claim's status holds; nil where there is none. It is never trusted over
	// Proxmox VE, but tells when somebody changed the pool's comment, and what stood there.
	Known *v1alpha1.Allocation
}

func (r Request) pool() string {
	return v1alpha1.ClusterPool(r.Fleet.Spec.Proxmox.WorkloadPool, r.Namespace, r.Name)
}

// action is what has to be done to a pool.
type action int

const (
	keep    action = iota // nothing: the allocation is there and large enough
	create                // make the pool, with its comment
	comment               // change the comment
)

// decision is an allocation, and what makes it so.
type decision struct {
	action  action
	block   block
	comment string // to be written; empty for keep
}

// plan decides what a cluster gets. It is pure: the same ledger and request give the same answer. inUse is true when
// the cluster may have machines, so that what it holds can only grow.
func plan(l *ledger, r Request, inUse bool) (decision, error) {
	network, err := check(l, r)
	if err != nil {
		return decision{}, err
	}
	own, held, err := standing(l, r, inUse)
	if err != nil {
		return decision{}, err
	}
	switch {
	case held && r.Nodes+ownerVM > size(own.vmIDs):
		return decision{}, tooLarge(r, own)
	case held && own.nodes.count() >= r.Nodes:
		return decision{action: keep, block: own}, nil
	}
	if e := l.unknown(r.Fleet.Spec.Proxmox.WorkloadPool, r.pool()); e != nil {
		return decision{}, e
	}
	grown, err := extend(l, r, network, own, held)
	if err != nil {
		return decision{}, err
	}
	former, exists := l.entries[r.pool()]
	if !exists {
		return decision{action: create, block: grown, comment: grown.format(r.pool())}, nil
	}
	return decision{action: comment, block: grown, comment: grown.comment(r.pool(), former.comment)}, nil
}

// check is what must hold for any request.
func check(l *ledger, r Request) (v1alpha1.Network, error) {
	settings := r.Fleet.Spec.Proxmox
	if _, shown := l.entries[settings.WorkloadPool]; !shown {
		return v1alpha1.Network{}, &Error{Kind: Invalid, Pool: settings.WorkloadPool, Message: fmt.Sprintf(
			"Proxmox VE shows no pool %s: create it, or give the agent's token Pool.Audit on /pool/%[1]s", settings.WorkloadPool)}
	}
	i := slices.IndexFunc(r.Fleet.Spec.Networks, func(n v1alpha1.Network) bool { return n.Name == r.Network })
	if i < 0 {
		return v1alpha1.Network{}, &Error{Kind: Invalid, Pool: r.pool(), Message: fmt.Sprintf("clusters/fleet.yaml has no network %s", r.Network)}
	}
	if r.Nodes < 1 {
		return v1alpha1.Network{}, &Error{Kind: Invalid, Pool: r.pool(), Message: fmt.Sprintf("%s asks for %d node addresses", r.Name, r.Nodes)}
	}
	return r.Fleet.Spec.Networks[i], nil
}

// standing is what the cluster holds now, and whether that counts: a block that nothing uses yet and that is of
// another network, or clashes with another pool's, is planned afresh.
func standing(l *ledger, r Request, inUse bool) (block, bool, error) {
	pool := r.pool()
	e, exists := l.entries[pool]
	switch {
	case !exists && !r.ClusterExists:
		return block{}, false, nil
	case !exists:
		return block{}, false, changed(r, "pool %s is gone from Proxmox VE, though its cluster exists: create it again", pool)
	case errors.Is(e.err, errNoBlock) && !inUse:
		return block{}, false, nil
	case e.err != nil:
		return block{}, false, changed(r, "the comment of pool %s was changed: %v", pool, e.err)
	case !r.ClusterExists && e.block.network != r.Network, !inUse && e.clash != "":
		return block{}, false, nil
	case e.block.network != r.Network:
		return block{}, false, &Error{Kind: Changed, Pool: pool, Message: fmt.Sprintf(
			"pool %s holds addresses of network %s, and the claim asks for %s: a cluster's network stays", pool, e.block.network, r.Network)}
	case e.clash != "":
		return block{}, false, &Error{Kind: Changed, Pool: pool, Message: fmt.Sprintf(
			"pools %s and %s hold the same addresses or VMIDs: their comments were changed, or two agents ran at once", pool, e.clash)}
	}
	return e.block, true, asKnown(r, e.block)
}

// asKnown notices an older comment that somebody put back: it would give away what the cluster got since.
func asKnown(r Request, b block) error {
	if r.Known == nil || !r.ClusterExists {
		return nil
	}
	known, err := blockOf(r.Known)
	if err != nil || known.network != b.network {
		return nil // the status is not the home of the allocation; the sync writes it again
	}
	if !b.nodes.covers(known.nodes) || known.vmIDs != b.vmIDs {
		return changed(r, "the comment of pool %s was changed: it no longer holds all that the cluster was given", r.pool())
	}
	return nil
}

// changed is an Error that says, where it is known, what stood in the comment.
func changed(r Request, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	if r.Known != nil {
		if known, err := blockOf(r.Known); err == nil {
			message += "; its comment was " + known.format(r.pool())
		}
	}
	return &Error{Kind: Changed, Pool: r.pool(), Message: message}
}

// extend gives what is missing, out of what no other pool holds.
func extend(l *ledger, r Request, network v1alpha1.Network, own block, held bool) (block, error) {
	nodes, err := parseSpans(network.Nodes)
	if err != nil {
		return block{}, &Error{Kind: Invalid, Pool: r.pool(), Message: fmt.Sprintf("networks[%s].nodes in clusters/fleet.yaml: %v", network.Name, err)}
	}
	takenNodes, takenIDs := l.taken(r.pool())
	free := nodes.without(takenNodes).without(own.nodes)
	missing := r.Nodes - own.nodes.count()
	if n := free.count(); n < missing {
		return block{}, &Error{Kind: Full, Pool: r.pool(), Message: fmt.Sprintf(
			"network %s has %d free node addresses of %d; %s needs %d%s: add a range to networks[%[1]s].nodes in clusters/fleet.yaml",
			network.Name, n, nodes.count(), r.Name, missing, more(held))}
	}
	grown := block{network: network.Name, nodes: grow(own.nodes, free, missing), vmIDs: own.vmIDs}
	if held {
		return grown, nil
	}
	within, want := r.Fleet.Spec.Proxmox.VMIDs, blocksFor(r.Nodes)
	ids, found := freeBlock(within, takenIDs, want)
	if !found {
		return block{}, &Error{Kind: Full, Pool: r.pool(), Message: fmt.Sprintf(
			"the VMIDs %s have no free block of %d, and %s needs one: raise proxmox.vmIDs.end in clusters/fleet.yaml", showIDs(within), want, r.Name)}
	}
	grown.vmIDs = ids
	return grown, nil
}

// tooLarge: the block of VMIDs is part of the machines' templates, and changing it would replace every machine.
func tooLarge(r Request, own block) *Error {
	return &Error{Kind: Full, Pool: r.pool(), Message: fmt.Sprintf(
		"%s needs %d VMIDs for its nodes, updates and volumes, and its block %s stays as it was made: ask for fewer nodes, or for another cluster",
		r.Name, r.Nodes+ownerVM, showIDs(own.vmIDs))}
}

func more(held bool) string {
	if held {
		return " more"
	}
	return ""
}
