package kustomize

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// plain builds a target of the common simple form, or tells that it is not one. The form is: a kustomization with no more than namespace,
// resources, components and merge patches (see plain_patch.go); components of the same form; resources that are files with objects of custom
// kinds and ConfigMaps in plain YAML (no anchors, tags, numbers that are not small and whole), each identity once.
// What kustomize does to such a target is little: collect the objects in order, merge the patches, set the namespace.
func plain(t *target) ([]map[string]any, bool) {
	objects, ok := collect(t, types.KustomizationKind, nil)
	if !ok || len(objects) == 0 {
		return nil, false
	}
	return objects, true
}

func collect(t *target, kind string, objects []map[string]any) ([]map[string]any, bool) {
	if t == nil || !isPlain(&t.kustomization, kind) {
		return nil, false
	}
	for _, r := range t.resources {
		var ok bool
		if objects, ok = r.collect(objects); !ok {
			return nil, false
		}
	}
	for _, c := range t.components {
		var ok bool
		if objects, ok = collect(c.target, types.ComponentKind, objects); !ok {
			return nil, false
		}
	}
	for i, p := range t.patches {
		if !applyPlain(objects, &t.kustomization.Patches[i], p) {
			return nil, false
		}
	}
	setNamespace(objects, t.kustomization.Namespace)
	return objects, true
}

func (s step) collect(objects []map[string]any) ([]map[string]any, bool) {
	var below []map[string]any
	switch {
	case s.target != nil:
		var ok bool
		if below, ok = collect(s.target, types.KustomizationKind, nil); !ok {
			return nil, false
		}
	case s.file != nil:
		for _, doc := range s.file.docs {
			object, ok := plainObject(doc)
			if !ok {
				return nil, false
			}
			below = append(below, object)
		}
	}
	if len(below) == 0 {
		return nil, false
	}
	for _, object := range below {
		if held(objects, object) {
			return nil, false
		}
		objects = append(objects, object)
	}
	return objects, true
}

// isPlain tells whether nothing but the plain form's fields is set.
func isPlain(k *types.Kustomization, kind string) bool {
	if k.Kind != kind || len(k.Resources)+len(k.Components)+len(k.Patches)+len(k.Namespace) == 0 {
		return false
	}
	return reflect.DeepEqual(*k, types.Kustomization{
		TypeMeta: k.TypeMeta, Namespace: k.Namespace, Resources: k.Resources, Components: k.Components, Patches: k.Patches,
	})
}

// held tells whether an object of the same kind and name is among the objects; namespaces are not looked at, since they may become the same.
func held(objects []map[string]any, object map[string]any) bool {
	for _, o := range objects {
		if o["kind"] == object["kind"] && nameOf(o) == nameOf(object) {
			return true
		}
	}
	return false
}

func nameOf(object map[string]any) any { return object["metadata"].(map[string]any)["name"] }

func setNamespace(objects []map[string]any, namespace string) {
	if namespace == "" {
		return
	}
	for _, o := range objects {
		o["metadata"].(map[string]any)["namespace"] = namespace
	}
}

// plainKinds are the kinds that kustomize has no rules for, but that their namespace is set. ConfigMap has rules only where something
// refers to it, and nothing else here does.
var plainKinds = map[string]string{
	"ClusterClaim":       "kubehenge.dev/v1alpha1",
	"HelmChartProxy":     "addons.cluster.x-k8s.io/v1alpha1",
	"ClusterResourceSet": "addons.cluster.x-k8s.io/v1beta2",
	"MachineHealthCheck": "cluster.x-k8s.io/v1beta2",
	"ConfigMap":          "v1",
}

func plainObject(doc *yaml.Node) (map[string]any, bool) {
	value, ok := plainValue(doc)
	object, isMap := value.(map[string]any)
	if !ok || !isMap {
		return nil, false
	}
	kind, _ := object["kind"].(string)
	version, known := plainKinds[kind]
	metadata, _ := object["metadata"].(map[string]any)
	if !known || object["apiVersion"] != version || !plainMetadata(metadata) {
		return nil, false
	}
	return object, true
}

var plainName = regexp.MustCompile(`^[a-z]([-a-z0-9.]*[a-z0-9])?$`)

// plainMetadata leaves to kustomize what it treats specially: its own annotations, empty maps that it drops.
func plainMetadata(metadata map[string]any) bool {
	name, _ := metadata["name"].(string)
	if !plainName.MatchString(name) {
		return false
	}
	if namespace, given := metadata["namespace"]; given {
		if text, ok := namespace.(string); !ok || !plainName.MatchString(text) {
			return false
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		if value, given := metadata[field]; given && !plainLabels(value) {
			return false
		}
	}
	return true
}

func plainLabels(value any) bool {
	labels, ok := value.(map[string]any)
	for name, v := range labels {
		if _, isText := v.(string); !isText || strings.Contains(name, "config.k") || strings.Contains(name, "internal.") || strings.Contains(name, "kustomize") {
			return false
		}
	}
	return ok && len(labels) > 0
}

// plainValue decodes a node that every YAML parser understands alike.
func plainValue(node *yaml.Node) (any, bool) {
	if node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 {
		return nil, false
	}
	switch node.Kind {
	case yaml.MappingNode:
		return plainMap(node)
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, child := range node.Content {
			var ok bool
			if list[i], ok = plainValue(child); !ok || commentInFlow(node, child) {
				return nil, false
			}
		}
		return list, true
	case yaml.ScalarNode:
		return plainScalar(node)
	}
	return nil, false
}

func plainMap(node *yaml.Node) (any, bool) {
	fields := make(map[string]any, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, child := node.Content[i], node.Content[i+1]
		name, ok := plainScalar(key)
		text, isText := name.(string)
		if !ok || !isText || text == "" || key.Anchor != "" || commentInFlow(node, key) || commentInFlow(node, child) {
			return nil, false
		}
		if fields[text], ok = plainValue(child); !ok {
			return nil, false
		}
	}
	return fields, true
}

// commentInFlow is what the library's own writing and reading again may stumble over.
func commentInFlow(parent, child *yaml.Node) bool {
	return parent.Style&yaml.FlowStyle != 0 && child.HeadComment+child.LineComment+child.FootComment != ""
}

var (
	plainNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14})$`)
	plainText   = regexp.MustCompile(`^[ -~]*$`)
	blockText   = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?(\n+ *[!-~]([ -~]*[!-~])?)*\n?$`)
)

func plainScalar(node *yaml.Node) (any, bool) {
	switch node.ShortTag() {
	case "!!str":
		if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return node.Value, node.Style&yaml.LiteralStyle != 0 && blockText.MatchString(node.Value)
		}
		return node.Value, plainText.MatchString(node.Value)
	case "!!int":
		if !plainNumber.MatchString(node.Value) {
			return nil, false
		}
		n, err := strconv.ParseInt(node.Value, 10, 64)
		return n, err == nil
	case "!!bool":
		return node.Value == "true", node.Value == "true" || node.Value == "false"
	}
	return nil, false
}
