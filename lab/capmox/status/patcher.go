// Package status writes objects back at the end of a reconcile, with Ready summed up, as capmox's scopes do.
package status

import (
	"context"
	"fmt"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// Object is a ProxmoxCluster or a ProxmoxMachine.
type Object interface {
	client.Object
	conditions.Setter
}

// Patcher writes one object back. It remembers the object as it was when the patcher was made.
type Patcher struct {
	object    Object
	condition string
	helper    *patch.Helper
}

// NewPatcher remembers the object as it is now. condition is the one that Ready sums up.
func NewPatcher(c client.Client, object Object, condition string) (*Patcher, error) {
	helper, err := patch.NewHelper(object, c)
	if err != nil {
		return nil, fmt.Errorf("remember %s/%s: %w", object.GetNamespace(), object.GetName(), err)
	}
	return &Patcher{object: object, condition: condition, helper: helper}, nil
}

// Patch writes the difference: first the conditions, then metadata and spec, then the rest of the status.
func (p *Patcher) Patch(ctx context.Context) error {
	// It fails only while the condition is not there yet, and capmox does not mind either.
	_ = conditions.SetSummaryCondition(p.object, p.object, infrav1.ReadyCondition, conditions.ForConditionTypes{p.condition})
	return p.helper.Patch(ctx, p.object, patch.WithOwnedConditions{Conditions: []string{infrav1.ReadyCondition, p.condition}})
}
