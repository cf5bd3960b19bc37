package corner

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/api/v1alpha1"
)

// DefaultInterval is the time between two comparisons of all corners with Proxmox VE.
const DefaultInterval = 30 * time.Second

// Watch compares all corners with what Proxmox VE shows, and wakes the claims of those where something is to be done:
// five calls each time, whatever the number of clusters. It changes nothing itself.
type Watch struct {
	// Keeper is what looks after the corners.
	Keeper *Keeper
	// Clusters reads Clusters and claims from the cache.
	Clusters client.Reader
	// Fleet is the platform's settings in force; nil before the first commit.
	Fleet func() *v1alpha1.Fleet
	// Wake has claims looked at.
	Wake func(...types.NamespacedName)
	// Clock tells the time, and Interval how often; DefaultInterval when 0.
	Clock    clock.WithTicker
	Interval time.Duration
}

// Start compares until the context ends.
func (w *Watch) Start(ctx context.Context) error {
	if w.Interval == 0 {
		w.Interval = DefaultInterval
	}
	tick := w.Clock.NewTicker(w.Interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C():
		}
		if err := w.Once(ctx); err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Info("Cannot compare the clusters' corners with Proxmox VE; trying again", "why", err.Error())
		}
	}
}

// Once compares once.
func (w *Watch) Once(ctx context.Context) error {
	fleet := w.Fleet()
	if fleet == nil {
		return nil
	}
	var claims v1alpha1.ClusterClaimList
	var clusters clusterv1.ClusterList
	for _, list := range []client.ObjectList{&claims, &clusters} {
		if err := w.Clusters.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
	}
	live := make(map[types.NamespacedName]*clusterv1.Cluster, len(clusters.Items))
	for i := range clusters.Items {
		live[client.ObjectKeyFromObject(&clusters.Items[i])] = &clusters.Items[i]
	}
	return w.compare(ctx, fleet, claims.Items, live)
}

func (w *Watch) compare(ctx context.Context, fleet *v1alpha1.Fleet, claims []v1alpha1.ClusterClaim, live map[types.NamespacedName]*clusterv1.Cluster) error {
	var seen *view
	for i := range claims {
		key := client.ObjectKeyFromObject(&claims[i])
		cluster := live[key]
		if cluster == nil || !cluster.DeletionTimestamp.IsZero() || claims[i].Status.Allocation == nil {
			continue
		}
		if seen == nil {
			var err error
			if seen, err = w.Keeper.look(ctx); err != nil {
				return err
			}
		}
		if w.Keeper.differs(Request{Claim: &claims[i], Cluster: cluster, Fleet: fleet}, seen) {
			w.Wake(key)
		}
	}
	return nil
}

// differs tells whether any step has something to do.
func (k *Keeper) differs(r Request, seen *view) bool {
	w := k.newWork(r, seen)
	if w.stale() {
		return true
	}
	w.who = k.knownIdentity()
	for _, s := range making {
		if s.missing(w) != "" {
			return true
		}
	}
	return false
}

func (k *Keeper) knownIdentity() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.identity
}
