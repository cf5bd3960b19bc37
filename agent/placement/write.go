package placement

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// annotate makes these the annotations that placement owns on an object. The UID keeps an object from being made, and
// a successor of the same name from being taken for it.
func annotate(ctx context.Context, w client.Writer, kind schema.GroupVersionKind, o metav1.Object, annotations map[string]string) error {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	u.SetNamespace(o.GetNamespace())
	u.SetName(o.GetName())
	u.SetUID(o.GetUID())
	u.SetAnnotations(annotations)
	err := w.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(v1alpha1.PlacementFieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("annotate %s %s: %w", kind.Kind, client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetName()}, err)
	}
	return nil
}

// prefix is what a cluster's class puts before the version in the tag of its VM template. A class that Git does not
// hold, as after its last claim left, is named after its distribution.
func (p *Placement) prefix(c *clusterv1.Cluster) string {
	name := c.Spec.Topology.ClassRef.Name
	if desired := p.Store.Get(); desired != nil && desired.Classes[name] != nil {
		return desired.Classes[name].TemplateTagPrefix
	}
	return distribution(name) + "-"
}

// distribution is a class's name without its revision.
func distribution(class string) string {
	name, _, _ := cutLast(class, "-")
	return name
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// noteTemplates writes to the Fleet's status which Kubernetes versions have a VM template, when that is another. While so few nodes are online that Proxmox VE
// does not know of the others' guests, what is written stays.
func (p *Placement) noteTemplates(ctx context.Context, l *look) error {
	fleet := &v1alpha1.Fleet{}
	err := p.Client.Get(ctx, client.ObjectKey{Name: v1alpha1.FleetName}, fleet)
	if apierrors.IsNotFound(err) {
		return nil // the first commit brings it
	}
	if err != nil {
		return fmt.Errorf("read the fleet: %w", err)
	}
	found := l.byPrefix()
	if !l.quorate || equality.Semantic.DeepEqual(fleet.Status.Templates, found) {
		return nil
	}
	if err := writeTemplates(ctx, p.Client.Status(), fleet, found); err != nil {
		return fmt.Errorf("note the VM templates: %w", err)
	}
	return nil
}

// writeTemplates makes these the templates in the Fleet's status. The UID keeps a successor from being taken for it.
func writeTemplates(ctx context.Context, w client.SubResourceWriter, fleet *v1alpha1.Fleet, found []v1alpha1.Templates) error {
	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1alpha1.FleetStatus{Templates: found})
	if err != nil {
		return err
	}
	delete(status, "source") // another part's
	u := &unstructured.Unstructured{Object: map[string]any{"status": status}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Fleet"))
	u.SetName(fleet.Name)
	u.SetUID(fleet.UID)
	return w.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(v1alpha1.PlacementFieldManager), client.ForceOwnership)
}
