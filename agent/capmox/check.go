package capmox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Command puts the patches in; sentences name it.
const Command = "kubehenge capmox patch"

// Missing are the short names of the patches that manifests lack, in a fixed order; none means that they may be used. An
// error means that it cannot be told, since they lack a place to patch.
func Missing(objects []*unstructured.Unstructured) (names []string, err error) {
	for _, p := range patches {
		absent, err := p.absent(objects)
		if err != nil {
			return nil, fmt.Errorf("look whether capmox is patched so that %s: %w", p.purpose, err)
		}
		if absent {
			names = append(names, p.name)
		}
	}
	return names, nil
}

// Sentence says which patches are waited for and how they come, without a full stop; empty for none. It begins with a
// small letter.
func Sentence(missing []string) string {
	var purposes []string
	for _, p := range patches {
		if slices.Contains(missing, p.name) {
			purposes = append(purposes, p.purpose)
		}
	}
	if len(purposes) == 0 {
		return ""
	}
	return "waits for capmox to be patched so that " + strings.Join(purposes, ", and ") + ": run " + Command
}

var (
	crdKind      = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	webhooksKind = schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfigurationList"}
)

// Installed reads what of the installed capmox is patched, and all validating webhooks with it: their names are the
// installation's own. It needs to read the CustomResourceDefinition of machine templates and to list
// ValidatingWebhookConfigurations. Where capmox is not installed that is an error.
func Installed(ctx context.Context, c client.Reader) ([]*unstructured.Unstructured, error) {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(crdKind)
	hooks := &unstructured.UnstructuredList{}
	hooks.SetGroupVersionKind(webhooksKind)
	if err := read(ctx, c, crd, hooks); err != nil {
		return nil, err
	}
	objects := []*unstructured.Unstructured{crd}
	for i := range hooks.Items {
		objects = append(objects, &hooks.Items[i])
	}
	return objects, nil
}

// version stands for the state of what Installed reads: it costs next to nothing, and changes with every change there.
func version(ctx context.Context, c client.Reader) (string, error) {
	crd, hooks := &metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadataList{}
	crd.SetGroupVersionKind(crdKind)
	hooks.SetGroupVersionKind(webhooksKind)
	if err := read(ctx, c, crd, hooks); err != nil {
		return "", err
	}
	all := []string{string(crd.UID) + " " + crd.ResourceVersion}
	for i := range hooks.Items {
		all = append(all, string(hooks.Items[i].UID)+" "+hooks.Items[i].ResourceVersion)
	}
	slices.Sort(all)
	return strings.Join(all, "\n"), nil
}

func read(ctx context.Context, c client.Reader, crd client.Object, hooks client.ObjectList) error {
	if err := c.Get(ctx, client.ObjectKey{Name: crdName}, crd); err != nil {
		return fmt.Errorf("read the CRD %s: %w", crdName, err)
	}
	if err := c.List(ctx, hooks); err != nil {
		return fmt.Errorf("list the validating webhooks: %w", err)
	}
	return nil
}
