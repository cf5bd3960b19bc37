package machine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/utils/ptr"
)

// insufficientMemory says that not even the node with the most memory left has enough.
type insufficientMemory struct {
	node               string
	available, request uint64
}

// Error implements error.
func (e *insufficientMemory) Error() string {
	return fmt.Sprintf("cannot reserve %dB of memory on node %s: %dB available memory left", e.request, e.node, e.available)
}

// candidate is a node to put a VM on.
type candidate struct {
	name   string
	memory uint64 // bytes left
	vms    int    // of the same cluster and role
}

// allowedNodes are the machine's, or else the cluster's.
func (s *scope) allowedNodes() []string {
	if own := s.infraMachine.Spec.AllowedNodes; len(own) > 0 {
		return own
	}
	return s.infraCluster.Spec.AllowedNodes
}

// schedule asks every allowed node for its memory, in the list's order, and chooses. One node that does not
// answer is enough for an error.
func (s *scope) schedule(ctx context.Context, allowed []string) (string, error) {
	adjustment := int64(100)
	if hints := s.infraCluster.Spec.SchedulerHints; hints != nil {
		adjustment = ptr.Deref(hints.MemoryAdjustment, 100)
	}
	var nodes []candidate
	for _, name := range allowed {
		memory, err := s.proxmox.ReservableMemory(ctx, name, adjustment)
		if err != nil {
			return "", err
		}
		n := candidate{name: name, memory: memory}
		for _, l := range s.infraCluster.Status.NodeLocations.Of(s.role()) {
			if l.Node == name {
				n.vms++
			}
		}
		nodes = append(nodes, n)
	}
	request := uint64(ptr.Deref(s.infraMachine.Spec.MemoryMiB, 0)) << 20
	return choose(nodes, request)
}

// choose takes, of the nodes with more memory than asked for, the one with the fewest VMs, and among
// those the one with the most memory; when none has more, the one that has exactly as much.
func choose(nodes []candidate, request uint64) (string, error) {
	slices.SortStableFunc(nodes, func(a, b candidate) int { return cmp.Compare(b.memory, a.memory) })
	roomiest := nodes[0]
	if request > roomiest.memory {
		return "", &insufficientMemory{node: roomiest.name, available: roomiest.memory, request: request}
	}
	slices.SortStableFunc(nodes, func(a, b candidate) int { return cmp.Compare(a.vms, b.vms) })
	for _, n := range nodes {
		if request < n.memory {
			return n.name, nil
		}
	}
	return roomiest.name, nil
}
