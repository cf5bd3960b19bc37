package sync

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/allocation"
	"kubehenge.dev/agent/apply"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// Allocator reserves addresses and VMIDs; *allocation.Allocator is one.
type Allocator interface {
	// Ensure gives the cluster what it needs and has not yet; it never takes anything back.
	Ensure(ctx context.Context, r allocation.Request) (*v1alpha1.Allocation, error)
	// Release gives back what the cluster had, and fails while Proxmox VE still shows a VM of it. Nothing to give
	// back is success.
	Release(ctx context.Context, fleet *v1alpha1.Fleet, namespace, name string) error
}

// Providers are the parts of Cluster API that a class's objects need to be accepted and worked on.
type Providers interface {
	// Ensure returns nil once they serve, and until then a *status.Told that says what is waited for. It is asked
	// before each apply, so it answers from memory mostly.
	Ensure(ctx context.Context, class *render.Class) error
}

// Changes say which changes of live clusters can be carried out now; *capmox.Watch is one.
type Changes interface {
	// Allow is nil where the change can be carried out, and else a *status.Told.
	Allow(live, want *clusterv1.Cluster) error
}

// Observer is told of work as it is done, for metrics.
type Observer interface {
	// Applied is told how long an object's apply took.
	Applied(kind string, took time.Duration)
	// Synced is told the commit whose rendered bytes of one claim have just been applied whole.
	Synced(commit string)
}

// Reconciler brings one claim at a time to what the desired state says.
type Reconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Direct reads from the API server, where a stale answer would do harm.
	Direct client.Reader
	// Store is the desired state.
	Store *Store
	// Allocator reserves addresses and VMIDs.
	Allocator Allocator
	// Corners look after clusters' corners of Proxmox VE; nil looks after none.
	Corners Corners
	// Providers make ready what takes a class's objects in; nil leaves that to others.
	Providers Providers
	// Changes hold back changes that the provider would refuse; nil holds back none.
	Changes Changes
	// Events tells people at the object what was done.
	Events events.EventRecorder
	// Clock is the time.
	Clock clock.PassiveClock
	// Observer is told of work done; nil tells nobody.
	Observer Observer
	// Board holds what other parts have to say at claims; nil holds nothing.
	Board *status.Board
	// Follow is called with each kind that is applied beside the claim and its Cluster, before the first apply,
	// so that its changes are watched. Nil follows none.
	Follow func(ctx context.Context, object client.Object) error

	applier *apply.Applier
	classes classKeeper
	known   memory
	// interrupt stops the work after the named phase as a crash would; tests only.
	interrupt func(phase string) error
}

// memory is what one process knows beyond the live objects; losing it costs calls and nothing else.
type memory struct {
	mu         sync.Mutex
	namespaces map[string]bool
	reserved   map[types.NamespacedName]reservation
	refused    map[types.NamespacedName]string
	told       map[types.NamespacedName]string // the revision whose apply was last told
}

// reservation is an allocation that was ensured for the bytes with this digest.
type reservation struct {
	digest     string
	allocation v1alpha1.Allocation
}

// Prepare makes the reconciler ready; call it once.
func (r *Reconciler) Prepare() {
	r.applier = apply.New(r.Client, r.Direct)
	r.classes.applier = r.applier
	r.classes.applied = map[string]string{}
	r.known = memory{namespaces: map[string]bool{}, reserved: map[types.NamespacedName]reservation{}, refused: map[types.NamespacedName]string{}, told: map[types.NamespacedName]string{}}
}

// How long a claim rests before it is looked at again, when no watch will wake it.
const (
	restWaiting  = 5 * time.Second
	restTerminal = time.Minute
)

// Reconcile works on one claim: it collects what is known, runs the phases until one stops, and reports once.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	s, err := r.collect(ctx, req.NamespacedName)
	if err != nil || s == nil {
		return reconcile.Result{}, err
	}
	logger := log.FromContext(ctx).WithValues("cluster", s.key.String(), "commit", s.commit())
	ctx = logr.NewContext(ctx, logger)
	failure := r.run(ctx, s)
	if isInterrupt(failure) || s.stop != nil && s.stop.Quiet {
		return reconcile.Result{}, failure
	}
	if err := r.report(ctx, s); err != nil {
		return reconcile.Result{}, err
	}
	return rest(s, failure)
}

// run runs the phases in order until one has to stop; what stopped it is kept for the report.
func (r *Reconciler) run(ctx context.Context, s *scope) error {
	for _, p := range phases {
		err := p.run(r, ctx, s)
		if err == nil && r.interrupt != nil {
			err = r.interrupt(p.name)
		}
		if err == nil {
			continue
		}
		if isInterrupt(err) {
			return err
		}
		s.stop = status.Explain(p.step, err)
		r.tellRefusal(s)
		return err
	}
	r.forgetRefusal(s.key)
	return nil
}

// rest says when the claim is looked at again. Waits keep no worker busy.
func rest(s *scope, failure error) (ctrl.Result, error) {
	switch {
	case s.stop == nil:
		return ctrl.Result{}, nil
	case s.stop.Kind == status.Transient:
		return ctrl.Result{}, failure
	case s.stop.Kind == status.Terminal:
		return ctrl.Result{RequeueAfter: restTerminal}, nil
	}
	return ctrl.Result{RequeueAfter: restWaiting}, nil
}
