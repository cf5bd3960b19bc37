package sync

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/source"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// Revisions is where accepted commits come from; *source.Source is one.
type Revisions interface {
	Revisions() <-chan source.Revision
	States() <-chan source.State
}

// Renderer turns a tree into what it asks for; *render.Renderer is one.
type Renderer interface {
	Render(ctx context.Context, tree render.Tree) (*render.Rendering, error)
}

// Intake takes accepted commits over as the desired state. It is a manager's Runnable for the leader.
type Intake struct {
	// Client reads live claims from the cache.
	Client client.Client
	// Source is where accepted commits come from.
	Source Revisions
	// Renderer renders their trees.
	Renderer Renderer
	// Tree gives the tree of an earlier commit, to resume from the last good one; nil resumes from none.
	Tree func(commit string) (render.Tree, error)
	// Creators tells who made folders that a commit holds, by folder; applied is the commit in force before. Nil knows nobody.
	Creators func(ctx context.Context, commit, applied string, folders []string) (map[string]string, error)
	// LastApplied is the commit that an earlier run took over; empty for none.
	LastApplied func(ctx context.Context) string
	// Store is where the desired state goes.
	Store *Store
	// Enqueue wakes claims.
	Enqueue func(keys ...types.NamespacedName)
	// Changed is called when what the Fleet's status says may have changed.
	Changed func()
	// Clock is the time.
	Clock clock.Clock
	// Taken is told each commit that was taken over, and when it was made; nil tells nobody.
	Taken func(commit string, made time.Time)

	mu      sync.Mutex
	state   source.State
	refused refused
}

// refused is the guard's last word about the tip.
type refused struct {
	commit, message string
	since           time.Time
}

// retryRender is the pause after a tree that could not be read.
const retryRender = 2 * time.Second

// Start works until the context ends.
func (i *Intake) Start(ctx context.Context) error {
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithName("intake"))
	var again <-chan time.Time
	var last source.Revision
	for {
		select {
		case <-ctx.Done():
			return nil
		case state := <-i.Source.States():
			i.mu.Lock()
			i.state = state
			i.mu.Unlock()
			i.Changed()
			continue
		case last = <-i.Source.Revisions():
		case <-again:
		}
		again = nil
		if err := i.take(ctx, last); err != nil {
			log.FromContext(ctx).Error(err, "Could not take a commit over; trying again", "commit", last.Commit)
			again = i.Clock.After(retryRender)
		}
	}
}

// take renders a commit and takes it over, unless a guard speaks against it.
func (i *Intake) take(ctx context.Context, rev source.Revision) error {
	live, err := i.live(ctx)
	if err != nil {
		return err
	}
	why, err := i.consider(ctx, rev.Commit, rev.SignedBy, rev.Tree, live)
	if err != nil {
		return err
	}
	if why != "" {
		log.FromContext(ctx).Info("Refused a commit", "commit", rev.Commit, "why", why)
		if err := i.resume(ctx, rev.Commit, live); err != nil {
			return err
		}
	} else if i.Taken != nil {
		i.Taken(rev.Commit, rev.When)
	}
	i.remember(rev.Commit, why)
	i.Changed()
	return nil
}

// consider renders a tree and puts it in force; it answers why where a guard refuses it.
func (i *Intake) consider(ctx context.Context, commit, signedBy string, tree render.Tree, live liveClaims) (string, error) {
	start := i.Clock.Now()
	rendering, err := i.Renderer.Render(ctx, tree)
	if err != nil {
		return "", fmt.Errorf("render commit %s: %w", commit, err)
	}
	if why := refusal(&candidate{commit: commit, tree: tree, rendering: rendering, held: live.inForceCount()}); why != "" {
		return why, nil
	}
	prev := i.Store.Get()
	next := newDesired(prev, rendering, commit, signedBy, live)
	i.nameCreators(ctx, prev, next, live)
	i.Store.set(next)
	keys := wake(prev, next, live)
	log.FromContext(ctx).Info("Took over a commit", "commit", commit, "overlays", len(rendering.Overlays), "changed", len(keys),
		"broken", len(next.Problems), "took", i.Clock.Since(start).String())
	i.Enqueue(keys...)
	return "", nil
}

// resume puts the last good commit in force again, where this process knows none yet.
func (i *Intake) resume(ctx context.Context, tip string, live liveClaims) error {
	if i.Store.Get() != nil || i.Tree == nil || i.LastApplied == nil {
		return nil
	}
	last := i.LastApplied(ctx)
	if last == "" || last == tip {
		return nil
	}
	tree, err := i.Tree(last)
	if err != nil {
		log.FromContext(ctx).Info("The last good commit is not in the repository any more", "commit", last, "why", err.Error())
		return nil
	}
	_, err = i.consider(ctx, last, "", tree, live)
	return err
}

func (i *Intake) remember(commit, why string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if why == "" {
		i.refused = refused{}
		return
	}
	if i.refused.message != why {
		i.refused = refused{commit: commit, message: why, since: i.Clock.Now()}
	}
}

// wake are the claims that have something to do: those that changed, and live ones that no overlay renders and
// that do not say so yet.
func wake(prev, next *Desired, live liveClaims) []types.NamespacedName {
	keys := map[types.NamespacedName]bool{}
	for _, key := range changedClaims(prev, next) {
		keys[key] = true
	}
	for key, c := range live {
		if next.Claims[key] == nil && inGitReason(c) == "" {
			keys[key] = true
		}
	}
	return slices.SortedFunc(maps.Keys(keys), compareKeys)
}

func (i *Intake) live(ctx context.Context) (liveClaims, error) {
	var list v1alpha1.ClusterClaimList
	if err := i.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list claims: %w", err)
	}
	live := liveClaims{}
	for n := range list.Items {
		live[client.ObjectKeyFromObject(&list.Items[n])] = &list.Items[n]
	}
	return live, nil
}

// NeedLeaderElection keeps the intake to the leader.
func (i *Intake) NeedLeaderElection() bool { return true }

// sourceStatus is what the Fleet's status says of the repository, with since of the one that is live where the
// sentence is the same.
func (i *Intake) sourceStatus(was v1alpha1.SourceStatus) v1alpha1.SourceStatus {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := v1alpha1.SourceStatus{Tip: i.state.Tip, AppliedCommit: was.AppliedCommit, SignedBy: was.SignedBy, Message: i.state.Message, Since: was.Since}
	if d := i.Store.Get(); d != nil {
		s.AppliedCommit = d.Commit
		if d.SignedBy != "" || d.Commit != was.AppliedCommit {
			s.SignedBy = d.SignedBy
		}
	}
	since := i.state.Since
	if d := i.Store.Get(); d != nil && d.Note != "" && d.Commit == i.state.Tip {
		s.Message = d.Note
	}
	if i.refused.message != "" && !i.state.Reason.Refused() {
		s.Tip, s.Message, since = i.refused.commit, i.refused.message, i.refused.since
	}
	if s.Message != was.Message || s.Since == nil {
		s.Since = timeOf(since)
	}
	return s
}
