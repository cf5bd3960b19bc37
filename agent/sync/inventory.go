package sync

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/api/v1alpha1"
)

// wantedInventory names the objects that the claim's rendering asks for; Namespaces are in no inventory.
func wantedInventory(w *Wanted) []v1alpha1.ObjectReference {
	var refs []v1alpha1.ObjectReference
	for _, o := range w.Objects {
		if o.GetKind() != "Namespace" {
			refs = append(refs, reference(o))
		}
	}
	slices.SortFunc(refs, compareReferences)
	return refs
}

func reference(o *unstructured.Unstructured) v1alpha1.ObjectReference {
	return v1alpha1.ObjectReference{Group: o.GroupVersionKind().Group, Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

func compareReferences(a, b v1alpha1.ObjectReference) int {
	key := func(r v1alpha1.ObjectReference) string {
		return strings.Join([]string{r.Group, r.Kind, r.Namespace, r.Name}, "\x00")
	}
	return strings.Compare(key(a), key(b))
}

// without are the references of a that are not in b.
func without(a, b []v1alpha1.ObjectReference) []v1alpha1.ObjectReference {
	var out []v1alpha1.ObjectReference
	for _, r := range a {
		if !slices.Contains(b, r) {
			out = append(out, r)
		}
	}
	return out
}

// isExtra is true for what stands beside the claim and its Cluster: only such objects are ever pruned.
func isExtra(r v1alpha1.ObjectReference) bool {
	return r.Kind != "ClusterClaim" && r.Kind != "Cluster" && r.Kind != "Namespace"
}

// recordInventory writes new extras down before they are applied, so that a crash in between leaves none behind.
func (r *Reconciler) recordInventory(ctx context.Context, s *scope) error {
	if !s.keeps() || s.claim == nil {
		return nil
	}
	fresh := without(wantedInventory(s.wanted), s.inventory)
	s.inventory = append(slices.Clone(s.inventory), fresh...)
	slices.SortFunc(s.inventory, compareReferences)
	if !slices.ContainsFunc(fresh, isExtra) {
		return nil
	}
	return r.report(ctx, s)
}

// prune deletes the extras that Git no longer holds for a claim that lives on.
func (r *Reconciler) prune(ctx context.Context, s *scope) error {
	if !s.keeps() || s.claim == nil {
		return nil
	}
	wanted := wantedInventory(s.wanted)
	if err := r.deleteExtras(ctx, s, without(s.inventory, wanted)); err != nil {
		return err
	}
	s.inventory = wanted
	return nil
}

func (r *Reconciler) deleteExtras(ctx context.Context, s *scope, refs []v1alpha1.ObjectReference) error {
	for _, ref := range refs {
		if !isExtra(ref) {
			continue
		}
		deleted, err := r.applier.Delete(ctx, ref, s.key.Name)
		if err != nil {
			return err
		}
		if deleted {
			log.FromContext(ctx).Info("Pruned", "kind", ref.Kind, "name", ref.Name)
		}
	}
	return nil
}
