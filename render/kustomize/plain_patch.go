package kustomize

import (
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// applyPlain merges a patch of the plain form into the objects, or tells that it is not of that form. The form is: one object in plain YAML that has a
// value everywhere (no null, no empty map or list, no $patch), for an object of a kind that kustomize has no schema for; aimed by its own kind and
// name at an object without a namespace yet, or by a target that says no more than kind and name.
// Without a schema kustomize merges maps and replaces all else.
func applyPlain(objects []map[string]any, entry *types.Patch, p patch) bool {
	if entry.Options != nil || p.file == nil || len(p.file.docs) != 1 || entry.Path != "" && entry.Patch != "" {
		return false
	}
	change, ok := plainObject(p.file.docs[0])
	if !ok || change["kind"] == "ConfigMap" || !hasValues(change) {
		return false
	}
	aimed, ok := aim(objects, entry.Target, change)
	if !ok {
		return false
	}
	for _, o := range aimed {
		name := nameOf(o)
		if o["kind"] != change["kind"] || !mergePlain(o, change) {
			return false
		}
		o["metadata"].(map[string]any)["name"] = name
	}
	return true
}

// aim finds the objects that a patch is for.
func aim(objects []map[string]any, target *types.Selector, change map[string]any) ([]map[string]any, bool) {
	if _, given := change["metadata"].(map[string]any)["namespace"]; given {
		return nil, false
	}
	kind, name := change["kind"], nameOf(change)
	if target != nil {
		if !plainTarget(target) {
			return nil, false
		}
		kind, name = target.Kind, any(target.Name)
	}
	var aimed []map[string]any
	for _, o := range objects {
		if o["kind"] == kind && (name == "" || nameOf(o) == name) {
			aimed = append(aimed, o)
		}
	}
	if target == nil && (len(aimed) != 1 || aimed[0]["metadata"].(map[string]any)["namespace"] != nil) {
		return nil, false
	}
	return aimed, true
}

var (
	literalKind = regexp.MustCompile(`^[A-Za-z]+$`)
	literalName = regexp.MustCompile(`^[-a-z0-9]*$`)
)

// plainTarget tells whether a target says no more than kind and name; both are patterns to kustomize, and here must be plain words.
func plainTarget(target *types.Selector) bool {
	rest := *target
	rest.Kind, rest.Name = "", ""
	return rest == types.Selector{} && literalKind.MatchString(target.Kind) && literalName.MatchString(target.Name)
}

// hasValues tells whether nothing in a patch is empty or a directive.
func hasValues(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if strings.HasPrefix(name, "$") || !hasValues(field) {
				return false
			}
		}
		return len(v) > 0
	case []any:
		for _, item := range v {
			if !hasValues(item) {
				return false
			}
		}
		return len(v) > 0
	}
	return true
}

// mergePlain merges a map into another. False where a map meets something else, which kustomize refuses.
func mergePlain(into, from map[string]any) bool {
	for name, value := range from {
		old, there := into[name]
		if !there {
			into[name] = copied(value)
			continue
		}
		switch v := value.(type) {
		case map[string]any:
			below, isMap := old.(map[string]any)
			if !isMap || !mergePlain(below, v) {
				return false
			}
		case []any:
			if _, isList := old.([]any); !isList {
				return false
			}
			into[name] = copied(v)
		default:
			if !replaces(old, v) {
				return false
			}
			into[name] = v
		}
	}
	return true
}

// replaces tells whether a scalar takes another's place as what it is. Kustomize writes the new one in the old one's style, so that
// true behind "yes" becomes the string "true".
func replaces(old, value any) bool {
	was, wasText := old.(string)
	is, isText := value.(string)
	if wasText && isText {
		plain := yaml.Node{Kind: yaml.ScalarNode, Value: is}
		return !strings.Contains(was+is, "\n") && is != "" && plain.ShortTag() == "!!str"
	}
	return reflect.TypeOf(old) == reflect.TypeOf(value)
}

// copied is a copy that shares nothing, since a patch can go into several objects.
func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		fields := make(map[string]any, len(v))
		for name, field := range v {
			fields[name] = copied(field)
		}
		return fields
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = copied(item)
		}
		return list
	}
	return value
}
