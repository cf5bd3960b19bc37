package agent

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/agent/source"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/git"
	"kubehenge.dev/render"
)

// addAllocation has clusters given their addresses and VMIDs.
func (p *parts) addAllocation(context.Context) error {
	p.reconciler.Allocator = allocation.New(p.proxmox.Pools(), p.lists)
	return nil
}

// addSync joins repository, source, intake and reconcilers.
func (p *parts) addSync(ctx context.Context) error {
	repo, err := openRepository(ctx, p.options)
	if err != nil {
		return err
	}
	mgr := p.manager
	last := &lastApplied{direct: mgr.GetAPIReader()}
	src := newSource(ctx, repo, p.options, last)
	*p.intake = sync.Intake{
		Client: mgr.GetClient(), Source: src, Renderer: render.New(), Store: p.store, Clock: p.clock,
		Tree:     func(commit string) (render.Tree, error) { return repo.Tree(commit) },
		Creators: src.Creators, LastApplied: last.commit, Taken: p.metrics.taken,
	}
	fleet := &sync.FleetReconciler{Client: mgr.GetClient(), Direct: mgr.GetAPIReader(), Store: p.store, Intake: p.intake}
	if err := sync.Setup(ctx, mgr, p.reconciler, fleet, p.intake); err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(src.Run)); err != nil {
		return err
	}
	return addNotify(mgr, p.options, src)
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
		SSHKeyFile: o.GitSSHKeyFile, KnownHostsFile: o.GitKnownHostsFile,
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
