// Package admission holds the validations capmox's webhooks make beyond those of its CRDs
// (internal/webhook at 38e3ded), template immutability without an exemption for dry runs included.
package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// Setup registers a defaulting and a validating webhook for each kind, at controller-runtime's usual paths.
func Setup(mgr ctrl.Manager) error {
	for _, register := range []func(ctrl.Manager) error{
		kind(&infrav1.ProxmoxCluster{}, Clusters),
		kind(&infrav1.ProxmoxClusterTemplate{}, ClusterTemplates),
		kind(&infrav1.ProxmoxMachine{}, Machines),
		kind(&infrav1.ProxmoxMachineTemplate{}, MachineTemplates),
	} {
		if err := register(mgr); err != nil {
			return err
		}
	}
	return nil
}

func kind[T runtime.Object](object T, rules Rules[T]) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		return ctrl.NewWebhookManagedBy(mgr, object).WithDefaulter(rules).WithValidator(rules).Complete()
	}
}

// Rules are what is checked and filled in for one kind; nil functions do nothing.
type Rules[T runtime.Object] struct {
	Create func(object T) error
	Update func(old, object T) error
	Fill   func(object T)
}

// Default implements admission.Defaulter.
func (r Rules[T]) Default(_ context.Context, object T) error {
	if r.Fill != nil {
		r.Fill(object)
	}
	return nil
}

// ValidateCreate implements admission.Validator.
func (r Rules[T]) ValidateCreate(_ context.Context, object T) (admission.Warnings, error) {
	return nil, r.Create(object)
}

// ValidateUpdate implements admission.Validator.
func (r Rules[T]) ValidateUpdate(_ context.Context, old, object T) (admission.Warnings, error) {
	return nil, r.Update(old, object)
}

// ValidateDelete implements admission.Validator: anything may be deleted.
func (r Rules[T]) ValidateDelete(context.Context, T) (admission.Warnings, error) { return nil, nil }
