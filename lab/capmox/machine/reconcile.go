// Package machine takes a ProxmoxMachine from nothing to a running VM, and away again, the way capmox
// does: one stage a reconcile, the reason of the condition VirtualMachineProvisioned being the state, one
// machine at a time. What capmox gets wrong is kept, because whoever watches over it has to live with it.
//
// Sources: capmox at 38e3ded, internal/controller/proxmoxmachine_controller.go and internal/service.
package machine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/pace"
	"kubehenge.dev/lab/capmox/session"
)

// Reconciler reconciles ProxmoxMachines.
type Reconciler struct {
	Client   client.Client
	Sessions *session.Sessions
	Pace     pace.Pace
	Clock    clock.PassiveClock
}

// Setup registers the reconciler: one machine at a time, woken by the ProxmoxMachine and its Machine only.
func (r *Reconciler) Setup(mgr ctrl.Manager) error {
	kind := infrav1.GroupVersion.WithKind(infrav1.ProxmoxMachineKind)
	return ctrl.NewControllerManagedBy(mgr).
		For(&infrav1.ProxmoxMachine{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1, RateLimiter: r.Pace.Limiter()}).
		Watches(&clusterv1.Machine{}, handler.EnqueueRequestsFromMapFunc(util.MachineToInfrastructureMapFunc(kind))).
		Complete(r)
}

// Reconcile looks at one machine.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (_ ctrl.Result, reterr error) {
	s, err := r.gather(ctx, req)
	if err != nil || s == nil {
		return ctrl.Result{}, err
	}
	defer func() {
		if err := s.saveMachine.Patch(ctx); err != nil && reterr == nil {
			reterr = err
		}
	}()
	if !s.infraMachine.DeletionTimestamp.IsZero() {
		return r.reconcileDelete(ctx, s)
	}
	return r.reconcileNormal(ctx, s)
}

// gather reads all that belongs to the machine. Nil: something is missing, and its coming will wake us.
func (r *Reconciler) gather(ctx context.Context, req ctrl.Request) (*scope, error) {
	infraMachine := &infrav1.ProxmoxMachine{}
	if err := r.Client.Get(ctx, req.NamespacedName, infraMachine); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	owner, err := util.GetOwnerMachine(ctx, r.Client, infraMachine.ObjectMeta)
	if err != nil || owner == nil {
		return nil, err
	}
	capi, err := util.GetClusterFromMetadata(ctx, r.Client, owner.ObjectMeta)
	if err != nil || annotations.IsPaused(capi, infraMachine) {
		return nil, nil //nolint:nilerr // as capmox: the Cluster's coming wakes us
	}
	infraCluster := &infrav1.ProxmoxCluster{}
	key := client.ObjectKey{Namespace: infraMachine.Namespace, Name: capi.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, key, infraCluster); err != nil {
		log.FromContext(ctx).Info("waiting for the ProxmoxCluster")
		return nil, nil //nolint:nilerr // as capmox
	}
	return r.newScope(ctx, capi, owner, infraCluster, infraMachine)
}

func (r *Reconciler) reconcileNormal(ctx context.Context, s *scope) (ctrl.Result, error) {
	logger := log.FromContext(ctx)
	if s.failedForGood() {
		logger.Info("the machine has failed for good and is left alone")
		return ctrl.Result{}, nil
	}
	if reason := s.notYet(); reason != "" {
		s.state(reason, "")
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(s.infraMachine, infrav1.MachineFinalizer) {
		if err := s.saveMachine.Patch(ctx); err != nil {
			return ctrl.Result{}, err
		}
	}
	ready, err := s.runStages(ctx)
	var later *waitError
	switch {
	case errors.As(err, &later):
		return ctrl.Result{RequeueAfter: later.after}, nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("failed to reconcile VM: %w", err)
	case !ready:
		s.infraMachine.Status.VMStatus = ptr.To(infrav1.VMPending)
		return ctrl.Result{RequeueAfter: r.Pace.Requeue()}, nil
	}
	s.finish()
	return ctrl.Result{}, nil
}

func (r *Reconciler) reconcileDelete(ctx context.Context, s *scope) (ctrl.Result, error) {
	s.state(clusterv1.DeletingReason, "")
	if err := s.deleteVM(ctx); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.Pace.Requeue()}, nil
}

// waitError says when to look again; nothing new is wrong.
type waitError struct {
	why   string
	after time.Duration
}

// Error implements error.
func (w *waitError) Error() string { return fmt.Sprintf("%s, requeuing after %s", w.why, w.after) }
