package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// flow writes a value on one line, as it may stand in a flow collection too. Style is the quoting to keep where the value is a string.
func flow(value any, style yaml.Style) (string, error) {
	var node yaml.Node
	if err := node.Encode(value); err != nil {
		return "", fmt.Errorf("write the value: %w", err)
	}
	flowStyle(&node)
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" && style != 0 {
		node.Style = style
	}
	// Written as the item of a flow list, so that commas and brackets in it are quoted.
	list := yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{&node}}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	if err := encoder.Encode(&list); err != nil {
		return "", fmt.Errorf("write the value: %w", err)
	}
	text := strings.TrimSpace(out.String())
	if strings.Contains(text, "\n") || !strings.HasPrefix(text, "[") {
		return "", ErrForm
	}
	return text[1 : len(text)-1], nil
}

func flowStyle(node *yaml.Node) {
	if node.Kind == yaml.MappingNode || node.Kind == yaml.SequenceNode {
		node.Style = yaml.FlowStyle
	}
	if node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		node.Style = yaml.DoubleQuotedStyle
	}
	for _, child := range node.Content {
		flowStyle(child)
	}
	if node.Kind == yaml.MappingNode {
		sortFields(node)
	}
}

// usual is the order in which people write the fields of a pool; others follow by name, as the encoder has them.
var usual = []string{"name", "replicas", "size", "cpu", "memory", "disk"}

func sortFields(node *yaml.Node) {
	pairs := slices.Collect(slices.Chunk(node.Content, 2))
	rank := func(pair []*yaml.Node) int {
		if i := slices.Index(usual, pair[0].Value); i >= 0 {
			return i
		}
		return len(usual)
	}
	slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int { return rank(a) - rank(b) })
	node.Content = slices.Concat(pairs...)
}

// field writes a field of a block map: on one line, but a list of maps with an item a line.
func (t *text) field(indent, name string, value any) (string, error) {
	key, err := flow(name, 0)
	if err != nil {
		return "", err
	}
	items, isList := value.([]any)
	if !isList || len(items) == 0 || !isMap(items[0]) {
		written, err := flow(value, 0)
		return indent + key + ": " + written, err
	}
	lines := []string{indent + key + ":"}
	for _, item := range items {
		written, err := flow(item, 0)
		if err != nil {
			return "", err
		}
		lines = append(lines, indent+"- "+written)
	}
	return strings.Join(lines, t.newline), nil
}

func isMap(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}
