package ha

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// The pace of rounds. A machine that is held asks for the next one soon; what happens at once counts as one change.
const (
	every  = 15 * time.Second
	soon   = 5 * time.Second
	pooled = 500 * time.Millisecond
)

// Setup adds the keeper to a manager. There is one piece of work, the round: it comes every fifteen seconds, and when
// a machine joins or is to be deleted.
func Setup(mgr ctrl.Manager, k *Keeper) error {
	again := func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		q.AddAfter(reconcile.Request{}, pooled)
	}
	begin := source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(reconcile.Request{})
		return nil
	})
	return ctrl.NewControllerManagedBy(mgr).Named("ha").
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		WatchesRawSource(begin).
		Watches(&clusterv1.Machine{}, handler.Funcs{UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if turned(e.ObjectOld, e.ObjectNew) {
				again(ctx, q)
			}
		}}).
		Watches(&clusterv1.Cluster{}, handler.Funcs{UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if deletionBegan(e.ObjectOld, e.ObjectNew) {
				again(ctx, q)
			}
		}}).
		Complete(reconcile.Func(k.reconcile))
}

// turned is true where a machine has joined, or is to be deleted from now on.
func turned(before, after client.Object) bool {
	a, isMachine := before.(*clusterv1.Machine)
	b, still := after.(*clusterv1.Machine)
	joined := isMachine && still && !a.Status.NodeRef.IsDefined() && b.Status.NodeRef.IsDefined()
	return joined || deletionBegan(before, after)
}

func deletionBegan(before, after client.Object) bool {
	return before.GetDeletionTimestamp().IsZero() && !after.GetDeletionTimestamp().IsZero()
}

func (k *Keeper) reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	held, err := k.Round(ctx)
	if err != nil && ctx.Err() == nil {
		log.FromContext(ctx).Error(err, "Cannot keep HA as it is to be; trying again")
	}
	if held {
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	return reconcile.Result{RequeueAfter: every}, nil
}
