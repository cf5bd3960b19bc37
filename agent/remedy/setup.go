package remedy

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// pooled is how long a round that an event asks for waits for further ones.
const pooled = 500 * time.Millisecond

// Setup adds the patrol to a manager. There is one piece of work, the round: it comes every quarter of a minute, and
// when a machine is to be deleted, so that nothing more is said about it.
func Setup(mgr ctrl.Manager, p *Patrol) error {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	begin := source.Func(func(_ context.Context, q queue) error {
		q.Add(reconcile.Request{})
		return nil
	})
	deletion := handler.Funcs{UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
		if e.ObjectOld.GetDeletionTimestamp().IsZero() && !e.ObjectNew.GetDeletionTimestamp().IsZero() {
			q.AddAfter(reconcile.Request{}, pooled)
		}
	}}
	return ctrl.NewControllerManagedBy(mgr).Named("remedy").
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		WatchesRawSource(begin).
		Watches(&clusterv1.Machine{}, deletion).
		Complete(reconcile.Func(p.reconcile))
}

func (p *Patrol) reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if err := p.Round(ctx); err != nil && ctx.Err() == nil {
		log.FromContext(ctx).Error(err, "Cannot look after the machines; trying again")
	}
	return reconcile.Result{RequeueAfter: Every}, nil
}
