package placement

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// noteVersions writes to each live ClusterClass of kubeadm which versions have a VM template, when that is due.
func (p *Placement) noteVersions(ctx context.Context, l *look) error {
	if l.at.Sub(p.versions) < versionsInterval {
		return nil
	}
	p.versions = l.at
	kind := clusterv1.GroupVersion.WithKind("ClusterClass")
	var classes metav1.PartialObjectMetadataList
	classes.SetGroupVersionKind(clusterv1.GroupVersion.WithKind("ClusterClassList"))
	err := p.Direct.List(ctx, &classes, client.InNamespace(v1alpha1.SystemNamespace), client.HasLabels{v1alpha1.ClassLabel})
	if err != nil {
		return fmt.Errorf("list classes: %w", err)
	}
	var errs []error
	for i := range classes.Items {
		class := &classes.Items[i]
		if distribution(class.Name) != "kubeadm" {
			continue
		}
		want := map[string]string{v1alpha1.VersionsAnnotation: strings.Join(l.versions("kubeadm-"), ",")}
		if !written(class.Annotations, want) {
			errs = append(errs, annotate(ctx, p.Client, kind, class, want))
		}
	}
	return errors.Join(errs...)
}
