package orphans

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
)

const (
	// Every is the time between two looks.
	Every = 30 * time.Second
	// patience is how long a VM must belong to nobody to be told of: deletions and clones pass through that state.
	patience = 5 * time.Minute
	// Topic is the board's topic of orphans.
	Topic = "orphans"
)

// Guests is Proxmox VE's list of guests; *proxmox.Cache is one.
type Guests interface {
	// Machines is all guests that the agent's token may see.
	Machines(ctx context.Context) ([]proxmox.Machine, error)
}

// Watch finds orphans and lists them at their claims.
type Watch struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Fleet is the platform's settings in force; nil before the first.
	Fleet func() *v1alpha1.Fleet
	// Guests is Proxmox VE's list.
	Guests Guests
	// Board shows what is found at the claims.
	Board *status.Board
	// Events tells people at the claim; nil tells nobody.
	Events events.EventRecorder
	// Clock is the time.
	Clock clock.WithTicker

	// seen is since when each VM belongs to nobody: this process' memory. What a claim lists already has waited.
	seen map[lone]time.Time
}

// lone is a VM of a claim's that belongs to nobody.
type lone struct {
	claim types.NamespacedName
	vmid  int
}

// Start looks until the context ends.
func (w *Watch) Start(ctx context.Context) error {
	ticker := w.Clock.NewTicker(Every)
	defer ticker.Stop()
	for {
		if err := w.Look(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Cannot look for VMs that belong to no machine; trying again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Look compares once what Proxmox VE shows with what machines there are.
func (w *Watch) Look(ctx context.Context) error {
	fleet := w.Fleet()
	if fleet == nil {
		return nil
	}
	// The guests come first: one that is made in between is then not seen, and none is without its machine.
	guests, err := w.Guests.Machines(ctx)
	if err != nil {
		return fmt.Errorf("look for VMs that belong to no machine: %w", err)
	}
	s, err := gather(ctx, w.Client, fleet, guests)
	if err != nil {
		return err
	}
	found, before := s.find(), w.seen
	w.seen = map[lone]time.Time{}
	var errs []error
	for i := range s.claims {
		c := &s.claims[i]
		errs = append(errs, w.report(ctx, c, w.lasting(c, found[client.ObjectKeyFromObject(c)], before)))
	}
	return errors.Join(errs...)
}

// gather reads machines and claims.
func gather(ctx context.Context, r client.Reader, fleet *v1alpha1.Fleet, guests []proxmox.Machine) (*sight, error) {
	clusters, err := machines.List(ctx, r)
	if err != nil {
		return nil, err
	}
	var claims v1alpha1.ClusterClaimList
	if err := r.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("read claims: %w", err)
	}
	return &sight{workloadPool: fleet.Spec.Proxmox.WorkloadPool, claims: claims.Items, clusters: clusters, guests: guests}, nil
}

// lasting are those that have belonged to nobody for long enough.
func (w *Watch) lasting(c *v1alpha1.ClusterClaim, found []proxmox.Machine, before map[lone]time.Time) []Orphan {
	var list []Orphan
	now, listed := w.Clock.Now(), Of(c)
	for _, g := range found {
		key := lone{client.ObjectKeyFromObject(c), g.VMID}
		since, known := before[key]
		if !known {
			since = now
			if slices.ContainsFunc(listed, func(o Orphan) bool { return o.VMID == g.VMID }) {
				since = now.Add(-patience)
			}
		}
		w.seen[key] = since
		if now.Sub(since) >= patience {
			list = append(list, newOrphan(g))
		}
	}
	return list
}

// report brings the claim's annotation and its sentence to the list.
func (w *Watch) report(ctx context.Context, c *v1alpha1.ClusterClaim, list []Orphan) error {
	key := client.ObjectKeyFromObject(c)
	if len(list) == 0 {
		w.Board.Clear(key, Topic)
		if _, there := c.Annotations[v1alpha1.OrphansAnnotation]; !there {
			return nil
		}
		return machines.Unannotate(ctx, w.Client, claimObject(c), v1alpha1.RemedyFieldManager, v1alpha1.OrphansAnnotation)
	}
	w.Board.Say(key, Topic, status.Notice{Kind: status.Waiting, Sentence: sentence(key, list), Since: w.oldest(key, list)})
	text, err := encode(list)
	if err != nil {
		return fmt.Errorf("list orphans at %s: %w", key, err)
	}
	if text == c.Annotations[v1alpha1.OrphansAnnotation] {
		return nil
	}
	w.tell(c, list)
	return machines.Annotate(ctx, w.Client, claimObject(c), v1alpha1.RemedyFieldManager, v1alpha1.OrphansAnnotation, text)
}

// tell makes an event where VMs have joined the list.
func (w *Watch) tell(c *v1alpha1.ClusterClaim, list []Orphan) {
	listed := map[int]bool{}
	for _, o := range Of(c) {
		listed[o.VMID] = true
	}
	fresh := slices.DeleteFunc(slices.Clone(list), func(o Orphan) bool { return listed[o.VMID] })
	if len(fresh) > 0 && w.Events != nil {
		w.Events.Eventf(c, nil, corev1.EventTypeWarning, "Orphaned", "Watch", "%s", sentence(client.ObjectKeyFromObject(c), fresh))
	}
}

func sentence(key types.NamespacedName, list []Orphan) string {
	if len(list) == 1 {
		return fmt.Sprintf("%s belongs to no machine: look at it, then run kubehenge gc %s", names(list), key)
	}
	return fmt.Sprintf("%s belong to no machine: look at them, then run kubehenge gc %s", names(list), key)
}

func (w *Watch) oldest(key types.NamespacedName, list []Orphan) time.Time {
	times := map[time.Time]bool{}
	for _, o := range list {
		times[w.seen[lone{key, o.VMID}]] = true
	}
	return slices.MinFunc(slices.Collect(maps.Keys(times)), time.Time.Compare)
}

func claimObject(c *v1alpha1.ClusterClaim) machines.Object {
	return machines.Object{Kind: v1alpha1.GroupVersion.WithKind("ClusterClaim"), Key: client.ObjectKeyFromObject(c), UID: c.UID}
}
