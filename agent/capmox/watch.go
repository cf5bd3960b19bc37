package capmox

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/status"
)

// Every is the time between two looks at the installed capmox.
const Every = 5 * time.Second

// Watch knows which patches the installed capmox lacks. It is a manager's Runnable for the leader, and safe for
// concurrent use.
type Watch struct {
	// Direct reads from the API server.
	Direct client.Reader
	// Clock is the time.
	Clock clock.WithTicker
	// Changed is called when the answer has changed, and after the first look; nil calls nothing.
	Changed func()

	mu      sync.Mutex
	looked  bool
	version string
	missing []string
}

// NeedLeaderElection keeps the looks to the leader.
func (*Watch) NeedLeaderElection() bool { return true }

// Start looks until the context ends.
func (w *Watch) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithName("capmox"))
	said := ""
	for {
		err := w.Look(ctx)
		switch {
		case err == nil:
			said = ""
		case err.Error() != said && ctx.Err() == nil:
			said = err.Error()
			log.FromContext(ctx).Info("Cannot see whether capmox is patched; what was known of it stays", "why", said)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.Clock.After(Every):
		}
	}
}

// Look looks once. Where it cannot be told, what was known stays, and nothing is held that was not held before: capmox's
// own refusal is explained at the claim.
func (w *Watch) Look(ctx context.Context) error {
	now, err := version(ctx, w.Direct)
	missing, known := w.missing, err == nil && now == w.version
	if err == nil && !known {
		missing, err = w.read(ctx)
	}
	w.mu.Lock()
	changed := !w.looked || !slices.Equal(missing, w.missing)
	w.looked, w.missing = true, missing
	if err == nil {
		w.version = now
	}
	w.mu.Unlock()
	if changed {
		log.FromContext(ctx).Info("Looked whether capmox is patched", "missing", strings.Join(missing, ","))
		if w.Changed != nil {
			w.Changed()
		}
	}
	return err
}

// read is what is missing by the whole objects; what was known before where they do not tell.
func (w *Watch) read(ctx context.Context) ([]string, error) {
	objects, err := Installed(ctx, w.Direct)
	if err != nil {
		return w.missing, err
	}
	missing, err := Missing(objects)
	if err != nil {
		return w.missing, err
	}
	return missing, nil
}

// Lacks are the short names of the missing patches; looked is false before the first look of this process.
func (w *Watch) Lacks() (missing []string, looked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.missing, w.looked
}

// Allow is nil where the installed capmox takes the change from a live Cluster to the one that is wanted. What it would
// refuse is a *status.Told. Another Kubernetes version is the hooks' to hold.
func (w *Watch) Allow(live, want *clusterv1.Cluster) error {
	missing, _ := w.Lacks()
	if len(missing) == 0 {
		return nil
	}
	lacking := slices.DeleteFunc(Needs(live, want), func(name string) bool { return !slices.Contains(missing, name) })
	if len(lacking) == 0 {
		return nil
	}
	return &status.Told{Kind: status.Terminal, Reason: "CapmoxUnpatched", Sentence: Sentence(lacking)}
}
