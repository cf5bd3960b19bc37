package appliance

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"kubehenge.dev/agent/placement"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/render/plan"
)

// fits says whether what a claim takes more has room, as far as Proxmox VE shows it to the person. What is not shown is not checked; the agent does.
func (r *request) fits(need plan.Extra, addresses int, spec *v1alpha1.ClusterClaimSpec) (plan.Fit, error) {
	all, err := r.s.rooms.of(r.Context(), r.session.Name, r.session.Proxmox)
	if err != nil {
		return plan.Fit{}, err
	}
	need.Addresses = max(0, addresses)
	room := plan.Room{Network: spec.Network, Storage: spec.Storage, Memory: r.memory(all, spec.Nodes)}
	fleetSpec := &r.state.Rendering.Fleet.Spec
	for _, n := range fleet.Networks(fleetSpec, r.state.Rendering.Overlays, r.s.live.Claims()) {
		if n.Name == spec.Network {
			room.Addresses = &n.Nodes.Free
		}
	}
	for _, s := range all.Storages {
		if free := s.TotalBytes - s.UsedBytes; s.Name == spec.Storage && s.Available && (room.Disk == nil || free > *room.Disk) {
			room.Disk = &free
		}
	}
	return plan.Fits(need, room), nil
}

// memory is what nodes have free that may take the claim's machines; nodes that do not say how much they have are left out.
func (r *request) memory(all proxmox.Capacity, nodes []string) map[string]int64 {
	if len(nodes) == 0 {
		nodes = r.state.Rendering.Fleet.Spec.Proxmox.Nodes
	}
	free := placement.FreeMemory(all.Nodes, all.Machines)
	for _, n := range all.Nodes {
		if !n.Online || n.MemoryBytes == 0 || len(nodes) > 0 && !slices.Contains(nodes, n.Name) {
			delete(free, n.Name)
		}
	}
	return free
}

// reserved is how many addresses are kept for the cluster; what Git asks for where that is not known.
func (r *request) reserved(wanted int) int {
	c := r.s.live.Claim(types.NamespacedName(r.cluster))
	if c == nil || c.Status.Allocation == nil {
		return wanted
	}
	return fleet.Count(c.Status.Allocation.Addresses)
}

// roomAge is how old what Proxmox VE showed may be: who types a new cluster asks with every letter.
const roomAge = 10 * time.Second

// rooms remember what Proxmox VE showed each session.
type rooms struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	known map[string]room
}

type room struct {
	shown proxmox.Capacity
	until time.Time
}

func (s *rooms) of(ctx context.Context, session string, as *proxmox.Session) (proxmox.Capacity, error) {
	if known, fresh := s.look(session); fresh {
		return known.shown, nil
	}
	shown, err := as.Capacity(ctx)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known[session] = room{shown, s.clock.Now().Add(roomAge)}
	}
	return shown, err
}

// look also forgets what is old.
func (s *rooms) look(session string) (room, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]room{}
	}
	for name, r := range s.known {
		if !s.clock.Now().Before(r.until) {
			delete(s.known, name)
		}
	}
	r, ok := s.known[session]
	return r, ok
}
