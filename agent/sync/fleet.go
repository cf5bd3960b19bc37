package sync

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kubehenge.dev/agent/apply"
	"kubehenge.dev/api/v1alpha1"
)

// FleetReconciler keeps the live Fleet as Git has it, and its status as the intake knows it.
type FleetReconciler struct {
	// Client reads from the cache and writes.
	Client client.Client
	// Direct reads from the API server.
	Direct client.Reader
	// Store is the desired state.
	Store *Store
	// Intake knows how the repository stands.
	Intake *Intake

	applier *apply.Applier
}

// Prepare makes the reconciler ready; call it once.
func (r *FleetReconciler) Prepare() { r.applier = apply.New(r.Client, r.Direct) }

// Reconcile writes the one Fleet; the request only wakes it.
func (r *FleetReconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	live := &v1alpha1.Fleet{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: v1alpha1.FleetName}, live)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("read the fleet: %w", err)
	}
	exists := err == nil
	desired := r.Store.Get()
	if desired != nil {
		if err := r.apply(ctx, desired.Fleet, live, exists); err != nil {
			return reconcile.Result{}, err
		}
		exists = true
	}
	if !exists {
		return reconcile.Result{}, nil // there is nowhere to write the status to
	}
	next := v1alpha1.FleetStatus{Source: r.Intake.sourceStatus(live.Status.Source), Overlays: live.Status.Overlays}
	if desired != nil {
		next.Overlays = desired.Problems
	}
	was := live.Status
	was.Templates = nil // package placement's
	if equality.Semantic.DeepEqual(was, next) {
		return reconcile.Result{}, nil
	}
	if err := writeStatus(ctx, r.Client, fleetObject(), next); err != nil {
		return reconcile.Result{}, fmt.Errorf("write the fleet's status: %w", err)
	}
	return reconcile.Result{}, nil
}

func (r *FleetReconciler) apply(ctx context.Context, fleet *v1alpha1.Fleet, live *v1alpha1.Fleet, exists bool) error {
	spec, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&fleet.Spec)
	if err != nil {
		return fmt.Errorf("encode the fleet: %w", err)
	}
	want := fleetObject()
	want.Object["spec"] = spec
	var at client.Object
	if exists {
		at = live
	}
	_, err = r.applier.Apply(ctx, want, at)
	return err
}

func fleetObject() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Fleet",
		"metadata": map[string]any{"name": v1alpha1.FleetName},
	}}
}

func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	at := metav1.NewTime(t.Truncate(time.Second))
	return &at
}
