package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxBody is the largest object a client may send, in bytes; kube-apiserver's own limit.
const maxBody = 3 << 20

// fillResourceVersion completes an update that names no resource version. Such an update overwrites whatever is there
// (Helm's do), but the in-memory server takes it for a conflict. The namespace is taken from the path when the body
// lacks it.
func (c *Cluster) fillResourceVersion(r *http.Request) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	if len(body) > maxBody {
		return fmt.Errorf("body is larger than %d bytes", maxBody)
	}
	filled, err := c.withResourceVersion(r, body)
	if err != nil {
		return err
	}
	if filled != nil {
		body = filled
		r.Header.Set("Content-Type", "application/json")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return nil
}

// withResourceVersion returns the completed body, or nil when there is nothing to complete: the object has a version,
// does not exist, or is of a kind that only the in-memory server can complain about.
func (c *Cluster) withResourceVersion(r *http.Request, body []byte) ([]byte, error) {
	decoder := serializer.NewCodecFactory(c.registry.manager.GetScheme()).UniversalDeserializer()
	decoded, gvk, err := decoder.Decode(body, nil, nil)
	if err != nil {
		return nil, nil
	}
	object, ok := decoded.(client.Object)
	if !ok || object.GetResourceVersion() != "" {
		return nil, nil
	}
	if _, rest, found := strings.Cut(r.URL.Path, "/namespaces/"); found && strings.Count(rest, "/") >= 2 {
		namespace, _, _ := strings.Cut(rest, "/")
		object.SetNamespace(namespace)
	}
	current := object.DeepCopyObject().(client.Object)
	if err := c.objects().Get(r.Context(), client.ObjectKeyFromObject(object), current); err != nil {
		return nil, nil //nolint:nilerr // the in-memory server says it better
	}
	object.SetResourceVersion(current.GetResourceVersion())
	object.GetObjectKind().SetGroupVersionKind(*gvk)
	filled, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %s %s: %w", gvk.Kind, object.GetName(), err)
	}
	return filled, nil
}
