package install

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// injectCA asks cert-manager for what Rewire does itself.
const injectCA = "cert-manager.io/inject-ca-from"

// Webhooks says where a provider's webhooks are.
type Webhooks struct {
	// URL is the server's, without a path: https://127.10.0.1:20200.
	URL string
	// CA is the CA of its serving certificate in PEM.
	CA []byte
}

// Rewire makes the admission and conversion webhooks of a manifest point to w in place of a Service. It changes the
// manifest's objects.
func (m Manifest) Rewire(w Webhooks) error {
	for _, u := range m.Objects {
		configs, err := clientConfigs(u)
		if err != nil {
			return fmt.Errorf("rewire %s %s: %w", u.GetKind(), u.GetName(), err)
		}
		for _, config := range configs {
			w.rewire(config)
		}
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations", injectCA)
	}
	return nil
}

// clientConfigs returns the parts of an object that say where a webhook is, to be changed in place.
func clientConfigs(u *unstructured.Unstructured) ([]map[string]any, error) {
	switch u.GetKind() {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return admissionConfigs(u)
	case "CustomResourceDefinition":
		return conversionConfig(u), nil
	default:
		return nil, nil
	}
}

func admissionConfigs(u *unstructured.Unstructured) ([]map[string]any, error) {
	hooks, _ := u.Object["webhooks"].([]any)
	var out []map[string]any
	for i, hook := range hooks {
		h, ok := hook.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("webhook %d is no object", i)
		}
		config, ok := h["clientConfig"].(map[string]any)
		if !ok {
			return nil, fmt.Errorf("webhook %d has no clientConfig", i)
		}
		out = append(out, config)
	}
	return out, nil
}

func conversionConfig(u *unstructured.Unstructured) []map[string]any {
	object := u.Object
	for _, field := range []string{"spec", "conversion", "webhook", "clientConfig"} {
		next, ok := object[field].(map[string]any)
		if !ok {
			return nil
		}
		object = next
	}
	return []map[string]any{object}
}

func (w Webhooks) rewire(config map[string]any) {
	service, ok := config["service"].(map[string]any)
	if !ok {
		return
	}
	path, _ := service["path"].(string)
	delete(config, "service")
	config["url"] = w.URL + path
	config["caBundle"] = base64.StdEncoding.EncodeToString(w.CA)
}
