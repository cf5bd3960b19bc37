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

// WithoutAdmission returns the manifest without admission webhooks, for a lab in which nobody answers them.
func (m Manifest) WithoutAdmission() Manifest { return m.without(admission) }

func (m Manifest) without(kinds map[string]bool) Manifest {
	out := Manifest{Name: m.Name}
	for _, u := range m.Objects {
		if !kinds[u.GetKind()] {
			out.Objects = append(out.Objects, u)
		}
	}
	return out
}
