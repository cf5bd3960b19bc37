// Package cluster makes a ProxmoxCluster's address pools and says when it is provisioned, as capmox does
// (internal/controller/proxmoxcluster_controller.go at 38e3ded). Proxmox VE itself is not changed for it.
package cluster

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/lab/capmox/addresses"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/pace"
	"kubehenge.dev/lab/capmox/session"
	"kubehenge.dev/lab/capmox/status"
)

// Reconciler reconciles ProxmoxClusters.
type Reconciler struct {
	Client   client.Client
	Sessions *session.Sessions
	Pace     pace.Pace
}

// Setup registers the reconciler: woken by the ProxmoxCluster and its Cluster.
func (r *Reconciler) Setup(ctx context.Context, mgr ctrl.Manager) error {
	kind := infrav1.GroupVersion.WithKind(infrav1.ProxmoxClusterKind)
	logger, scheme := mgr.GetLogger(), mgr.GetScheme()
	return ctrl.NewControllerManagedBy(mgr).
		For(&infrav1.ProxmoxCluster{}).
		WithOptions(controller.Options{RateLimiter: r.Pace.Limiter()}).
		WithEventFilter(predicates.ResourceNotPaused(scheme, logger)).
		WithEventFilter(predicates.ResourceIsNotExternallyManaged(scheme, logger)).
		Watches(&clusterv1.Cluster{},
			handler.EnqueueRequestsFromMapFunc(util.ClusterToInfrastructureMapFunc(ctx, kind, mgr.GetClient(), &infrav1.ProxmoxCluster{})),
			builder.WithPredicates(predicates.ClusterUnpaused(scheme, logger))).
		Complete(r)
}

// Reconcile looks at one cluster.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, reterr error) {
	cluster := &infrav1.ProxmoxCluster{}
	if err := r.Client.Get(ctx, req.NamespacedName, cluster); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owner, err := util.GetOwnerCluster(ctx, r.Client, cluster.ObjectMeta)
	if err != nil || owner == nil || annotations.IsPaused(owner, cluster) {
		return ctrl.Result{}, err
	}
	patcher, err := status.NewPatcher(r.Client, cluster, infrav1.ProxmoxAvailableCondition)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.connect(ctx, cluster, patcher); err != nil {
		return ctrl.Result{}, fmt.Errorf("failed to create scope: %w", err)
	}
	defer func() {
		if err := patcher.Patch(ctx); err != nil && reterr == nil {
			reterr = err
		}
	}()
	if !cluster.DeletionTimestamp.IsZero() {
		return r.reconcileDelete(ctx, owner, cluster)
	}
	return r.reconcileNormal(ctx, cluster)
}

// connect makes the client, though nothing here uses it: its GET /version proves the credentials.
func (r *Reconciler) connect(ctx context.Context, cluster *infrav1.ProxmoxCluster, patcher *status.Patcher) error {
	_, err := r.Sessions.For(ctx, cluster)
	if errors.Is(err, session.ErrNoCredentials) {
		available(cluster, infrav1.CredentialsNotFoundReason, err.Error())
		return errors.Join(err, patcher.Patch(ctx))
	}
	return err
}

func (r *Reconciler) reconcileNormal(ctx context.Context, cluster *infrav1.ProxmoxCluster) (ctrl.Result, error) {
	controllerutil.AddFinalizer(cluster, infrav1.ClusterFinalizer)
	if ptr.Deref(cluster.Spec.ExternalManagedControlPlane, false) && cluster.Spec.ControlPlaneEndpoint.IsZero() {
		available(cluster, infrav1.MissingControlPlaneEndpointReason, "The ProxmoxCluster is missing or waiting for a ControlPlaneEndpoint")
		return ctrl.Result{RequeueAfter: r.Pace.EndpointWait()}, nil
	}
	wait, err := r.pools(ctx, cluster)
	if err != nil {
		return ctrl.Result{}, err
	}
	if wait {
		return ctrl.Result{RequeueAfter: r.Pace.Requeue()}, nil
	}
	if err := r.holdSecret(ctx, cluster); err != nil {
		reason := infrav1.ProxmoxUnreachableReason
		if apierrors.IsNotFound(err) {
			reason = infrav1.CredentialsNotFoundReason
		}
		available(cluster, reason, err.Error())
		return ctrl.Result{}, err
	}
	conditions.Set(cluster, metav1.Condition{
		Type: infrav1.ProxmoxAvailableCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ProvisionedReason,
	})
	cluster.Status.Initialization.Provisioned = ptr.To(true)
	return ctrl.Result{}, nil
}

// pools makes or updates the pools and notes them; wait says that one of them cannot be read back yet.
func (r *Reconciler) pools(ctx context.Context, cluster *infrav1.ProxmoxCluster) (wait bool, err error) {
	if err := addresses.SyncPools(ctx, r.Client, cluster, r.Pace.ReuseGrace()); err != nil {
		return false, err
	}
	for _, f := range []struct {
		config *infrav1.IPConfigSpec
		family addresses.Family
	}{{cluster.Spec.IPv4Config, addresses.IPv4}, {cluster.Spec.IPv6Config, addresses.IPv6}} {
		if f.config == nil {
			continue
		}
		pool, err := addresses.Pool(ctx, r.Client, cluster, f.family)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		addresses.Record(cluster, pool)
	}
	return false, nil
}

func (r *Reconciler) reconcileDelete(ctx context.Context, owner *clusterv1.Cluster, cluster *infrav1.ProxmoxCluster) (ctrl.Result, error) {
	if owner.DeletionTimestamp.IsZero() {
		log.FromContext(ctx).Info("deletion was requested but the owning Cluster was not deleted")
		return ctrl.Result{}, nil
	}
	machines := &infrav1.ProxmoxMachineList{}
	err := r.Client.List(ctx, machines, client.InNamespace(owner.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: owner.Name})
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("could not retrieve proxmox machines for cluster %q: %w", cluster.Name, err)
	}
	if len(machines.Items) > 0 {
		return ctrl.Result{RequeueAfter: r.Pace.Requeue()}, nil
	}
	if err := r.releaseSecret(ctx, cluster); err != nil {
		return ctrl.Result{}, err
	}
	controllerutil.RemoveFinalizer(cluster, infrav1.ClusterFinalizer)
	return ctrl.Result{}, nil
}

func available(cluster *infrav1.ProxmoxCluster, reason, message string) {
	conditions.Set(cluster, metav1.Condition{
		Type: infrav1.ProxmoxAvailableCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	})
}
