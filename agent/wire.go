package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/agent/source"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/git"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/render"
)

// addSync joins repository, source, intake and reconcilers.
func addSync(ctx context.Context, mgr ctrl.Manager, o Options) error {
	now := clock.RealClock{}
	metrics, err := newMetrics(mgr.GetCache(), now)
	if err != nil {
		return err
	}
	allocator, err := newAllocator(o, metrics, now)
	if err != nil {
		return err
	}
	repo, err := openRepository(ctx, o)
	if err != nil {
		return err
	}
	last := &lastApplied{direct: mgr.GetAPIReader()}
	src := newSource(ctx, repo, o, last)
	store := &sync.Store{}
	intake := &sync.Intake{
		Client: mgr.GetClient(), Source: src, Renderer: render.New(), Store: store, Clock: now,
		Tree:        func(commit string) (render.Tree, error) { return repo.Tree(commit) },
		LastApplied: last.commit, Taken: metrics.taken,
	}
	reconciler := &sync.Reconciler{
		Client: mgr.GetClient(), Direct: mgr.GetAPIReader(), Store: store, Allocator: allocator,
		Events: mgr.GetEventRecorder("kubehenge"), Clock: now, Observer: metrics,
	}
	fleet := &sync.FleetReconciler{Client: mgr.GetClient(), Direct: mgr.GetAPIReader(), Store: store, Intake: intake}
	if err := sync.Setup(ctx, mgr, reconciler, fleet, intake); err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(src.Run)); err != nil {
		return err
	}
	return addNotify(mgr, o, src)
}

func openRepository(ctx context.Context, o Options) (*git.Repository, error) {
	ca, err := optionalFile(o.GitCAFile)
	if err != nil {
		return nil, fmt.Errorf("read --git-ca-file: %w", err)
	}
	dir := ""
	if o.DataDir != "" {
		dir = filepath.Join(o.DataDir, "repository.git")
	}
	repo, err := git.Open(ctx, git.Options{
		URL: o.Repository, Branch: o.Branch, Username: o.GitUsername, PasswordFile: o.GitPasswordFile, CABundle: ca, Dir: dir,
	})
	if err != nil {
		return nil, fmt.Errorf("open the repository: %w", err)
	}
	return repo, nil
}

func newSource(ctx context.Context, repo *git.Repository, o Options, last *lastApplied) *source.Source {
	options := source.Options{Poll: o.Poll, AcceptRewrite: o.AcceptRewrite, LastApplied: func() string { return last.commit(ctx) }}
	if o.AllowedSignersFile != "" {
		options.Signers = source.SignersFile(o.AllowedSignersFile)
	}
	return source.New(repo, options)
}

// newAllocator connects to Proxmox VE; every call is counted.
func newAllocator(o Options, m *metrics, now clock.PassiveClock) (*allocation.Allocator, error) {
	ca, err := optionalFile(o.ProxmoxCAFile)
	if err != nil {
		return nil, fmt.Errorf("read --proxmox-ca-file: %w", err)
	}
	c, err := proxmox.Connect(proxmox.Options{URL: o.ProxmoxURL, TokenID: o.ProxmoxTokenID, TokenFile: o.ProxmoxTokenFile, CA: ca, OnCall: m.proxmoxCall})
	if err != nil {
		return nil, err
	}
	return allocation.New(c.Pools(), proxmox.NewCache(c.Pools(), c.Machines(), nil, 0, now)), nil
}

// lastApplied is the commit that an earlier run took over, as the live Fleet has it. An API server that does not
// answer is asked until it does: to take its silence for "none" would let rewritten history in.
type lastApplied struct {
	direct client.Reader
}

const askAgain = time.Second

func (l *lastApplied) commit(ctx context.Context) string {
	for {
		fleet := &v1alpha1.Fleet{}
		err := l.direct.Get(ctx, types.NamespacedName{Name: v1alpha1.FleetName}, fleet)
		if client.IgnoreNotFound(err) == nil {
			return fleet.Status.Source.AppliedCommit
		}
		log.FromContext(ctx).Info("Cannot read which commit was applied last; trying again", "why", err.Error())
		select {
		case <-ctx.Done():
			return ""
		case <-time.After(askAgain):
		}
	}
}
