package machines

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Object names a live object whose annotation is to be written. The UID keeps a successor of the same name from being
// taken for it.
type Object struct {
	Kind schema.GroupVersionKind
	Key  types.NamespacedName
	UID  types.UID
}

// Object is the Machine.
func (m *Machine) Object() Object {
	return Object{clusterv1.GroupVersion.WithKind("Machine"), types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, m.UID}
}

// VMObject is the machine's ProxmoxMachine.
func (m *Machine) VMObject() Object {
	return Object{Kind, types.NamespacedName{Namespace: m.Namespace, Name: m.VM.Name}, m.VM.UID}
}

// Annotate sets one annotation in the name of a field manager. An object that is gone, or was replaced by another of
// the same name, is an error of the API server's.
func Annotate(ctx context.Context, w client.Writer, o Object, manager, name, value string) error {
	return patch(ctx, w, o, manager, name, value)
}

// Unannotate takes an annotation away; one that is not there is success.
func Unannotate(ctx context.Context, w client.Writer, o Object, manager, name string) error {
	return patch(ctx, w, o, manager, name, nil)
}

func patch(ctx context.Context, w client.Writer, o Object, manager, name string, value any) error {
	metadata := map[string]any{"annotations": map[string]any{name: value}}
	if o.UID != "" {
		metadata["uid"] = string(o.UID)
	}
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("encode annotation %s: %w", name, err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(o.Kind)
	u.SetNamespace(o.Key.Namespace)
	u.SetName(o.Key.Name)
	if err := w.Patch(ctx, u, client.RawPatch(types.MergePatchType, body), client.FieldOwner(manager)); err != nil {
		return fmt.Errorf("annotate %s %s with %s: %w", o.Kind.Kind, o.Key, name, err)
	}
	return nil
}

// AsObject is the live Cluster.
func (c *Cluster) AsObject() Object {
	o := Object{Kind: clusterv1.GroupVersion.WithKind("Cluster"), Key: c.Key}
	if c.Object != nil {
		o.UID = c.Object.UID
	}
	return o
}
