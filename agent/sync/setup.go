package sync

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"kubehenge.dev/api/v1alpha1"
)

// workers is how many claims are worked on at once.
const workers = 10

// Back-off after transient errors, a claim each.
const (
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 30 * time.Second
)

func options[R comparable](concurrent int) controller.TypedOptions[R] {
	return controller.TypedOptions[R]{
		MaxConcurrentReconciles: concurrent,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[R](firstBackoff, lastBackoff),
	}
}

// Setup adds the claims' controller, the Fleet's and the intake to a manager, and joins them.
func Setup(ctx context.Context, mgr ctrl.Manager, r *Reconciler, f *FleetReconciler, i *Intake) error {
	r.Prepare()
	f.Prepare()
	for _, o := range []client.Object{&clusterv1.Machine{}, &controlplanev1.KubeadmControlPlane{}, vmObject()} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, o, clusterIndex, clusterOf); err != nil {
			return fmt.Errorf("index %T by cluster: %w", o, err)
		}
	}
	queue := &Queue{}
	i.Enqueue = queue.Add
	c, err := claimController(mgr, r, queue)
	if err != nil {
		return fmt.Errorf("set up the claims' controller: %w", err)
	}
	r.Follow = (&follower{controller: c, cache: mgr.GetCache()}).follow
	if err := fleetController(mgr, f, i); err != nil {
		return fmt.Errorf("set up the fleet's controller: %w", err)
	}
	if err := mgr.Add(manager.RunnableFunc(r.keepClasses)); err != nil {
		return err
	}
	return mgr.Add(i)
}

func claimController(mgr ctrl.Manager, r *Reconciler, queue *Queue) (controller.Controller, error) {
	same := &handler.EnqueueRequestForObject{}
	byCluster := handler.EnqueueRequestsFromMapFunc(toCluster)
	changed := builder.WithPredicates(matters)
	return ctrl.NewControllerManagedBy(mgr).Named("claim").
		WithOptions(options[reconcile.Request](workers)).
		WatchesRawSource(queue).
		Watches(&v1alpha1.ClusterClaim{}, forgetting{r, same}, changed).
		Watches(&clusterv1.Cluster{}, forgetting{r, same}, changed, builder.WithPredicates(predicate.NewPredicateFuncs(hasClaim))).
		Watches(&controlplanev1.KubeadmControlPlane{}, byCluster, changed).
		Watches(&clusterv1.Machine{}, byCluster, changed).
		Watches(vmObject(), byCluster, changed).
		Build(r)
}

func fleetController(mgr ctrl.Manager, f *FleetReconciler, i *Intake) error {
	wake := make(chan event.TypedGenericEvent[client.Object], 1)
	fleet := &v1alpha1.Fleet{}
	fleet.SetName(v1alpha1.FleetName)
	i.Changed = func() {
		select {
		case wake <- event.TypedGenericEvent[client.Object]{Object: fleet}:
		default: // it is woken already
		}
	}
	same := &handler.EnqueueRequestForObject{}
	return ctrl.NewControllerManagedBy(mgr).Named("fleet").
		WithOptions(options[reconcile.Request](1)).
		Watches(&v1alpha1.Fleet{}, same).
		WatchesRawSource(source.Channel(wake, same)).
		Complete(f)
}

func vmObject() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(vmKind)
	return u
}

func clusterOf(o client.Object) []string {
	if name := o.GetLabels()[clusterv1.ClusterNameLabel]; name != "" {
		return []string{name}
	}
	return nil
}

func toCluster(_ context.Context, o client.Object) []reconcile.Request {
	return requests(o.GetNamespace(), o.GetLabels()[clusterv1.ClusterNameLabel])
}

func toClaim(_ context.Context, o client.Object) []reconcile.Request {
	return requests(o.GetNamespace(), o.GetLabels()[v1alpha1.ClaimLabel])
}

func requests(namespace, name string) []reconcile.Request {
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

func hasClaim(o client.Object) bool { return o.GetLabels()[v1alpha1.ClaimLabel] != "" }

// forgetting makes the applier forget an object that was deleted, so that it is applied again where it is wanted.
type forgetting struct {
	r *Reconciler
	handler.EventHandler
}

// Delete forgets and then wakes the claim.
func (h forgetting) Delete(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	kinds, _, err := h.r.Client.Scheme().ObjectKinds(e.Object)
	if err == nil && len(kinds) > 0 {
		h.r.applier.Forget(schema.GroupKind{Group: kinds[0].Group, Kind: kinds[0].Kind}, client.ObjectKeyFromObject(e.Object))
	}
	h.EventHandler.Delete(ctx, e, q)
}

// follower watches the kinds of extras, each from its first use on: their CRDs need not exist before.
type follower struct {
	controller controller.Controller
	cache      cache.Cache

	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]bool
}

func (f *follower) follow(_ context.Context, o client.Object) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := o.GetObjectKind().GroupVersionKind()
	if f.kinds[kind] {
		return nil
	}
	if f.kinds == nil {
		f.kinds = map[schema.GroupVersionKind]bool{}
	}
	err := f.controller.Watch(source.Kind(f.cache, o, handler.EnqueueRequestsFromMapFunc(toClaim), predicate.NewPredicateFuncs(hasClaim)))
	if err != nil {
		return err
	}
	f.kinds[kind] = true
	return nil
}
