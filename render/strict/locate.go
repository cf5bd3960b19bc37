package strict

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Source is a file in which a field may stand.
type Source struct {
	Path    string
	Content []byte
	// Offset is added to line numbers: where Content is a block inside a larger file.
	Offset int
}

// Locate finds where a field of an object of the given kind is written. The first source that holds the longest part of the field's
// path wins, so give patches before what they patch. Without any such object it returns the first source and line 0.
func Locate(sources []Source, kind, field string) (path string, line int) {
	steps := Steps(field)
	best := -1
	for _, s := range sources {
		for _, doc := range documents(s.Content) {
			if scalarOf(doc, "kind") != kind {
				continue
			}
			if depth, at := descend(doc, steps); depth > best {
				best, path, line = depth, s.Path, at+s.Offset
			}
		}
	}
	if best < 0 && len(sources) > 0 {
		path = sources[0].Path
	}
	return path, line
}

// Steps splits a path such as spec.pools[1].name or metadata.labels["a.b/c"] into its keys and indexes.
func Steps(field string) []string {
	var steps []string
	for field != "" {
		switch {
		case strings.HasPrefix(field, `["`):
			end := strings.Index(field, `"]`)
			if end < 0 {
				return append(steps, field)
			}
			name, err := strconv.Unquote(field[1 : end+1])
			if err != nil {
				name = field[2:end]
			}
			steps, field = append(steps, name), field[end+2:]
		case field[0] == '[':
			inner, rest, _ := strings.Cut(field[1:], "]")
			steps, field = append(steps, inner), rest
		case field[0] == '.':
			field = field[1:]
		default:
			end := strings.IndexAny(field, ".[")
			if end < 0 {
				end = len(field)
			}
			steps, field = append(steps, field[:end]), field[end:]
		}
	}
	return steps
}

// documents parses as many documents as are well formed.
func documents(content []byte) []*yaml.Node {
	var docs []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			return docs
		}
		if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 {
			docs = append(docs, doc.Content[0])
		}
	}
}

// descend walks the steps as far as they exist and tells how many did, and the line of the last key.
func descend(node *yaml.Node, steps []string) (depth, line int) {
	line = node.Line
	for _, step := range steps {
		key, value := child(node, step)
		if value == nil {
			break
		}
		node, line, depth = value, key.Line, depth+1
	}
	return depth, line
}

func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}

func scalarOf(node *yaml.Node, name string) string {
	if _, value := child(node, name); value != nil {
		return value.Value
	}
	return ""
}

// LineIn is the line in a document where a field is written, or of as much of its path as there is.
func LineIn(doc *yaml.Node, field string) int {
	_, line := descend(doc, Steps(field))
	return line
}

// NodeIn is the value of a field of a document, or nil.
func NodeIn(doc *yaml.Node, field string) *yaml.Node {
	for _, step := range Steps(field) {
		if _, doc = child(doc, step); doc == nil {
			return nil
		}
	}
	return doc
}
