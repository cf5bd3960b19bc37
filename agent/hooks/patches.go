package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"kubehenge.dev/api/v1alpha1"
)

// The kinds of capmox's templates, whatever their version.
const (
	infrastructureGroup = "infrastructure.cluster.x-k8s.io"
	clusterTemplate     = "ProxmoxClusterTemplate"
	machineTemplate     = "ProxmoxMachineTemplate"
)

// GeneratePatches puts the nodes that OnlineNodesAnnotation lists into the cluster's own template, and into no other:
// a list in a machine template would replace every machine whenever a node comes or goes. The list's order is kept in
// the live object, where a change of order would be an update, so it is sorted here whatever the annotation's is.
//
// Without a list nothing is answered but why: capmox would put every VM where its template is. What is live stays as
// it is until there is a list.
func GeneratePatches(_ context.Context, q *hooksv1.GeneratePatchesRequest, r *hooksv1.GeneratePatchesResponse) {
	items, err := patches(q)
	if err != nil {
		r.SetStatus(hooksv1.ResponseStatusFailure)
		r.SetMessage(err.Error())
		return
	}
	r.SetStatus(hooksv1.ResponseStatusSuccess)
	r.Items = items
}

func patches(q *hooksv1.GeneratePatchesRequest) ([]hooksv1.GeneratePatchesResponseItem, error) {
	cluster, err := clusterOf(q.Variables)
	if err != nil {
		return nil, err
	}
	nodes := Nodes(cluster.annotations[v1alpha1.OnlineNodesAnnotation])
	if len(nodes) == 0 {
		return nil, errors.New("waits for the agent to list the Proxmox VE nodes that may take the cluster's machines")
	}
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/template/spec/allowedNodes", "value": nodes}})
	if err != nil {
		return nil, fmt.Errorf("write the list of nodes: %w", err)
	}
	var items []hooksv1.GeneratePatchesResponseItem
	for i := range q.Items {
		item := &q.Items[i]
		if item.HolderReference.Kind != "Cluster" || !isTemplate(item.Object, clusterTemplate) {
			continue
		}
		items = append(items, hooksv1.GeneratePatchesResponseItem{UID: item.UID, PatchType: hooksv1.JSONPatchType, Patch: patch})
	}
	return items, nil
}

// Nodes reads the value of OnlineNodesAnnotation: sorted, each name once, nothing empty.
func Nodes(annotation string) []string {
	nodes := strings.FieldsFunc(annotation, func(r rune) bool { return r == ',' || r == ' ' })
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// about is the cluster that a topology is computed for, as far as the request shows it.
type about struct {
	namespace, name string
	annotations     map[string]string
}

// clusterOf reads the variable "builtin", the only one that patches from outside of a class are given.
func clusterOf(variables []hooksv1.Variable) (about, error) {
	for _, v := range variables {
		if v.Name != hooksv1.BuiltinsName {
			continue
		}
		var builtin hooksv1.Builtins
		if err := json.Unmarshal(v.Value.Raw, &builtin); err != nil {
			return about{}, fmt.Errorf("read the variable builtin: %w", err)
		}
		if builtin.Cluster == nil {
			break
		}
		a := about{namespace: builtin.Cluster.Namespace, name: builtin.Cluster.Name}
		if builtin.Cluster.Metadata != nil {
			a.annotations = builtin.Cluster.Metadata.Annotations
		}
		return a, nil
	}
	return about{}, errors.New("the request does not name its cluster")
}

func isTemplate(raw runtime.RawExtension, kind string) bool {
	u, err := decode(raw)
	return err == nil && u.GetKind() == kind && u.GroupVersionKind().Group == infrastructureGroup
}

func decode(raw runtime.RawExtension) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw.Raw, &u.Object); err != nil {
		return nil, fmt.Errorf("read a template: %w", err)
	}
	return u, nil
}
