package ha

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

// Lists are Proxmox VE's lists as the agent's own token sees them; *proxmox.Cache has them.
type Lists interface {
	Machines(ctx context.Context) ([]proxmox.Machine, error)
	Nodes(ctx context.Context) ([]proxmox.Node, error)
	Storages(ctx context.Context) ([]proxmox.Storage, error)
}

// Keeper keeps Proxmox VE's HA manager and the machines' hooks as they are to be.
type Keeper struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Fleet is the platform's settings in force; nil before the first.
	Fleet func() *v1alpha1.Fleet
	// Lists are remembered lists. Fresh reads the guests anew: a VM's deletion hangs on where it is now.
	Lists Lists
	Fresh func(ctx context.Context) ([]proxmox.Machine, error)
	// HA is the HA manager, with the token for it; nil without that token.
	HA proxmox.HA
	// Board shows at the claims what is waited for.
	Board *status.Board
	// Events tells people at the claim what was done; nil tells nobody.
	Events events.EventRecorder
	// Clock is the time.
	Clock clock.PassiveClock

	// outSince is since when a hooked machine's VM is out of HA: this process' memory, whose loss costs a cycle of
	// the HA manager.
	outSince map[types.UID]time.Time
	// cleaned is true once HA is off and nothing of ours is left there, so that the manager need not be asked.
	cleaned bool
	// told are the clusters that the board has a notice of.
	told map[types.NamespacedName]bool
	// interrupt stops the work after the named step as a crash would; tests only.
	interrupt func(step string) error
}

// Round looks at every cluster once and answers whether a machine is held, so that the next should come soon. A
// cluster that cannot be served does not keep the others from it.
func (k *Keeper) Round(ctx context.Context) (held bool, err error) {
	fleet := k.Fleet()
	if fleet == nil {
		return false, nil
	}
	looks, err := k.looks(ctx, fleet)
	if err != nil {
		return false, err
	}
	mgr, managerErr := k.manager(ctx, fleet)
	errs := []error{managerErr}
	for _, key := range slices.SortedFunc(maps.Keys(looks), compareKeys) {
		l := looks[key]
		l.manager = mgr
		k.noteOut(l)
		p := newPlan(l)
		failure := k.carryOut(ctx, l, p)
		k.say(l, cmp.Or(failure, managerErr))
		errs = append(errs, failure)
		held = held || anyHeld(l)
	}
	k.forget(looks)
	k.cleaned = !fleet.Spec.Proxmox.HA && mgr.clean()
	return held, errors.Join(errs...)
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// manager asks the HA manager, where there is reason to.
func (k *Keeper) manager(ctx context.Context, fleet *v1alpha1.Fleet) (manager, error) {
	if fleet.Spec.Proxmox.HA {
		k.cleaned = false
	}
	if k.HA == nil || k.cleaned {
		return manager{known: k.cleaned}, nil
	}
	return readManager(ctx, k.HA)
}

// looks are what is seen of each cluster, the HA manager aside.
func (k *Keeper) looks(ctx context.Context, fleet *v1alpha1.Fleet) (map[types.NamespacedName]*look, error) {
	all, err := machines.List(ctx, k.Client)
	if err != nil {
		return nil, err
	}
	var claims v1alpha1.ClusterClaimList
	if err := k.Client.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	common, err := k.common(ctx, fleet, all)
	if err != nil {
		return nil, err
	}
	looks := map[types.NamespacedName]*look{}
	for i := range claims.Items {
		c := &claims.Items[i]
		key := client.ObjectKeyFromObject(c)
		cluster := all[key]
		switch {
		case cluster == nil && c.Status.Allocation == nil:
			continue // there never was one of ours
		case cluster == nil:
			cluster = &machines.Cluster{Key: key}
		}
		l := *common
		l.Cluster = cluster
		l.on = fleet.Spec.Proxmox.HA && l.shared[cmp.Or(c.Spec.Storage, fleet.Spec.Proxmox.Storages[0])]
		l.allowed = c.Spec.Nodes
		if len(l.allowed) == 0 {
			l.allowed = fleet.Spec.Proxmox.Nodes
		}
		looks[key] = &l
	}
	return looks, nil
}

// common is what all clusters' looks have in common.
func (k *Keeper) common(ctx context.Context, fleet *v1alpha1.Fleet, all map[types.NamespacedName]*machines.Cluster) (*look, error) {
	list, err := k.guests(ctx, all)
	if err != nil {
		return nil, err
	}
	l := &look{guests: make(map[int]proxmox.Machine, len(list)), shared: map[string]bool{}, outFor: k.outFor}
	for _, g := range list {
		l.guests[g.VMID] = g
	}
	if !fleet.Spec.Proxmox.HA {
		return l, nil
	}
	storages, err := k.Lists.Storages(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range storages {
		l.shared[s.Name] = s.Shared
	}
	nodes, err := k.Lists.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		l.nodes = append(l.nodes, n.Name)
		if n.Online {
			l.online = append(l.online, n.Name)
		}
	}
	return l, nil
}

// guests is the remembered list, or a fresh one while a deletion hangs on it.
func (k *Keeper) guests(ctx context.Context, all map[types.NamespacedName]*machines.Cluster) ([]proxmox.Machine, error) {
	for _, c := range all {
		for _, m := range c.Machines {
			if m.Hooked && !m.Staying() {
				return k.Fresh(ctx)
			}
		}
	}
	return k.Lists.Machines(ctx)
}

// noteOut remembers since when hooked machines' VMs are out of HA.
func (k *Keeper) noteOut(l *look) {
	if k.outSince == nil {
		k.outSince = map[types.UID]time.Time{}
	}
	for _, m := range l.Machines {
		_, in := l.manager.resources[sid(m.VM.ID)]
		_, noted := k.outSince[m.UID]
		switch {
		case !m.Hooked || in || !l.manager.known:
			delete(k.outSince, m.UID)
		case !noted:
			k.outSince[m.UID] = k.Clock.Now()
		}
	}
}

func (k *Keeper) outFor(m *machines.Machine) time.Duration {
	since, noted := k.outSince[m.UID]
	if !noted {
		return 0
	}
	return k.Clock.Since(since)
}

// forget drops what is remembered of machines and clusters that are gone.
func (k *Keeper) forget(looks map[types.NamespacedName]*look) {
	present := map[types.UID]bool{}
	for _, l := range looks {
		for _, m := range l.Machines {
			present[m.UID] = true
		}
	}
	maps.DeleteFunc(k.outSince, func(id types.UID, _ time.Time) bool { return !present[id] })
	for key := range k.told {
		if looks[key] == nil {
			k.clear(key)
		}
	}
}

func anyHeld(l *look) bool {
	return slices.ContainsFunc(l.Machines, func(m *machines.Machine) bool { return m.Hooked && !m.Staying() })
}

// tell makes an event at the claim.
func (k *Keeper) tell(ctx context.Context, key types.NamespacedName, kind, reason, note string) {
	claim := &v1alpha1.ClusterClaim{}
	if k.Events == nil || k.Client.Get(ctx, key, claim) != nil {
		return
	}
	k.Events.Eventf(claim, nil, kind, reason, "HighAvailability", "%s", note)
}
