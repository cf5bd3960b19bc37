package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Manifest is what one provider wants installed.
type Manifest struct {
	// Name is the provider's, for messages.
	Name    string
	Objects []*unstructured.Unstructured
}

// Parse reads a stream of YAML documents.
func Parse(name string, data []byte) (Manifest, error) {
	m := Manifest{Name: name}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		u := &unstructured.Unstructured{}
		err := decoder.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return Manifest{}, fmt.Errorf("read the manifests of %s: %w", name, err)
		}
		if len(u.Object) > 0 {
			m.Objects = append(m.Objects, u)
		}
	}
}

// inPods are the kinds that only make sense for a provider that runs in Pods with cert-manager.
var inPods = map[string]bool{"Deployment": true, "Service": true, "Certificate": true, "Issuer": true}

// OutOfPods returns the manifest without what only makes sense in Pods.
func (m Manifest) OutOfPods() Manifest { return m.without(inPods) }

// admission are the kinds that call a provider before an object is accepted.
var admission = map[string]bool{"ValidatingWebhookConfiguration": true, "MutatingWebhookConfiguration": true}

// WithoutWebhooks returns the manifest for a lab in which nobody answers webhooks: without those of admission, and
// with kinds that are served in their storage version alone. It changes the CRDs in place.
//
// A webhook of conversion that nobody answers costs more than errors: for each version that it cannot convert to, the
// API server lists all objects again each second
// (https://github.com/kubernetes/apiserver/blob/v0.36.0/pkg/storage/cacher/cacher.go, "reinitializing").
func (m Manifest) WithoutWebhooks() Manifest {
	out := m.without(admission)
	for _, u := range out.Objects {
		if u.GetKind() == "CustomResourceDefinition" {
			serveStorageVersion(u)
		}
	}
	return out
}

func serveStorageVersion(crd *unstructured.Unstructured) {
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	spec, _ := crd.Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		if version, ok := v.(map[string]any); ok {
			version["served"] = version["storage"]
		}
	}
}

func (m Manifest) without(kinds map[string]bool) Manifest {
	out := Manifest{Name: m.Name}
	for _, u := range m.Objects {
		if !kinds[u.GetKind()] {
			out.Objects = append(out.Objects, u)
		}
	}
	return out
}
