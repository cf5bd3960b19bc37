package kustomize

import (
	"errors"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// anyValue decodes a node into what JSON can hold; the plain form first, since it is by far the most frequent and the cheapest.
func anyValue(node *yaml.Node) (any, error) {
	if value, ok := plainValue(node); ok {
		return value, nil
	}
	text, err := yaml.Marshal(node)
	if err != nil {
		return nil, errors.New("no valid YAML")
	}
	asJSON, err := sigsyaml.YAMLToJSON(text)
	if err != nil {
		return nil, errors.New("cannot be read as JSON")
	}
	var value any
	if err := json.Unmarshal(asJSON, &value); err != nil {
		return nil, errors.New("cannot be read as JSON")
	}
	return value, nil
}
