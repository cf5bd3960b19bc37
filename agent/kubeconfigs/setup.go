package kubeconfigs

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"kubehenge.dev/api/v1alpha1"
)

// Setup adds the copier to a manager. It is woken by clusters and by their claims: a claim outlives its cluster, so that the copy of one that went while
// no agent ran is removed too.
func Setup(mgr ctrl.Manager, c *Copier) error {
	comesOrGoes := predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return initialized(e.ObjectOld) != initialized(e.ObjectNew) }}
	same := &handler.EnqueueRequestForObject{}
	return ctrl.NewControllerManagedBy(mgr).Named("kubeconfigs").
		WithOptions(controller.Options{MaxConcurrentReconciles: 2}).
		Watches(&clusterv1.Cluster{}, same, builder.WithPredicates(comesOrGoes)).
		Watches(&v1alpha1.ClusterClaim{}, same, builder.WithPredicates(comesOrGoes)).
		Complete(c)
}

// initialized tells whether a cluster's control plane has answered, which is when its kubeconfig is of use.
func initialized(o client.Object) bool {
	c, ok := o.(*clusterv1.Cluster)
	return ok && c.Status.Initialization.ControlPlaneInitialized != nil && *c.Status.Initialization.ControlPlaneInitialized
}
