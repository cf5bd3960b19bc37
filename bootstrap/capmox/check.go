package capmox

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Check says which patches the installed capmox lacks, one sentence each; none means that it may be used. An error means
// that it cannot be told, because capmox is not installed or cannot be read. It needs to read CustomResourceDefinitions
// and list ValidatingWebhookConfigurations.
func Check(ctx context.Context, c client.Reader) (missing []string, err error) {
	objects, err := installed(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, p := range patches {
		absent, err := p.absent(objects)
		if err != nil {
			return nil, fmt.Errorf("look for the patch by which %s: %w", p.name, err)
		}
		if absent {
			missing = append(missing, "capmox is not patched so that "+p.name)
		}
	}
	return missing, nil
}

func installed(ctx context.Context, c client.Reader) ([]*unstructured.Unstructured, error) {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := c.Get(ctx, client.ObjectKey{Name: crdName}, crd); err != nil {
		return nil, fmt.Errorf("read the CRD %s: %w", crdName, err)
	}
	hooks := &unstructured.UnstructuredList{}
	hooks.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfigurationList"})
	if err := c.List(ctx, hooks); err != nil {
		return nil, fmt.Errorf("list the validating webhooks: %w", err)
	}
	objects := []*unstructured.Unstructured{crd}
	for i := range hooks.Items {
		objects = append(objects, &hooks.Items[i])
	}
	return objects, nil
}
