package placement

import (
	"context"
	"fmt"
	"maps"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/sync"
)

// workers is how many clusters are decided at once.
const workers = 4

// Setup adds the looks and the clusters' controller to a manager.
func Setup(mgr ctrl.Manager, p *Placement) error {
	p.Prepare()
	queue := &sync.Queue{}
	p.Enqueue = queue.Add
	_, err := ctrl.NewControllerManagedBy(mgr).Named("placement").
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		WatchesRawSource(queue).
		Watches(&clusterv1.Cluster{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(clusterMatters)).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(toCluster), builder.WithPredicates(machineMatters)).
		Build(p)
	if err != nil {
		return fmt.Errorf("set up the placement's controller: %w", err)
	}
	return mgr.Add(p)
}

func toCluster(_ context.Context, o client.Object) []reconcile.Request {
	name := o.GetLabels()[clusterv1.ClusterNameLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
}

// clusterMatters drops changes of a Cluster's status.
var clusterMatters = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
		!maps.Equal(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations())
}}

// machineMatters keeps the moments when a machine begins to be pending, and ceases to be.
var machineMatters = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*clusterv1.Machine)
	after, isMachine := e.ObjectNew.(*clusterv1.Machine)
	return ok && isMachine && pending(before) != pending(after)
}}
