package edit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a field of a map, or an item of a list.
type place struct {
	parent *yaml.Node
	index  int        // of the value in the parent's Content
	key    *yaml.Node // the value itself in a list
	value  *yaml.Node
}

// follow walks the steps as far as they are there.
func follow(root *yaml.Node, steps []string) (places []place, rest []string) {
	node := root
	for i, step := range steps {
		p, ok := find(node, step)
		if !ok {
			return places, steps[i:]
		}
		places = append(places, p)
		node = p.value
	}
	return places, nil
}

func find(node *yaml.Node, step string) (place, bool) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return place{node, i + 1, node.Content[i], node.Content[i+1]}, true
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(node.Content) {
			return place{node, i, node.Content[i], node.Content[i]}, true
		}
	}
	return place{}, false
}

// set makes the edit that writes a value.
func (t *text) set(root *yaml.Node, steps []string, value any) (edit, error) {
	places, rest := follow(root, steps)
	if len(rest) == 0 {
		return t.replace(places[len(places)-1], value)
	}
	at := root
	if len(places) > 0 {
		at = places[len(places)-1].value
	}
	for i := len(rest) - 1; i > 0; i-- {
		value = map[string]any{rest[i]: value}
	}
	switch {
	case at.Kind == yaml.MappingNode && len(at.Content) > 0, isFlow(at):
		return t.insert(at, rest[0], value)
	case at.Kind == yaml.SequenceNode:
		return t.appendItem(at, value)
	case at.Kind == yaml.ScalarNode && at.ShortTag() == "!!null" && len(places) > 0:
		return t.replace(places[len(places)-1], map[string]any{rest[0]: value})
	}
	return edit{}, ErrForm
}

// replace writes another value in an existing one's place.
func (t *text) replace(p place, value any) (edit, error) {
	quotes := p.value.Style & (yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle)
	written, err := flow(value, quotes)
	if err != nil {
		return edit{}, err
	}
	if isNothing(p.value) {
		colon, err := t.afterColon(p)
		return edit{colon, colon, " " + written}, err
	}
	if end, ok := t.end(p.value); ok {
		return edit{t.at(p.value), end, written}, nil
	}
	if p.value == p.key {
		return edit{t.at(p.value), t.lineEnd(t.lastLine(p.key, p.value)), written}, nil
	}
	colon, err := t.afterColon(p)
	return edit{colon, t.lineEnd(t.lastLine(p.key, p.value)), " " + written}, err
}

// afterColon is behind the colon of a field's key.
func (t *text) afterColon(p place) (int, error) {
	end, ok := t.end(p.key)
	if !ok || p.key == p.value {
		return 0, ErrForm
	}
	for end < len(t.src) && t.src[end] == ' ' {
		end++
	}
	if end == len(t.src) || t.src[end] != ':' {
		return 0, ErrForm
	}
	return end + 1, nil
}

// insert adds a field at the end of a map.
func (t *text) insert(node *yaml.Node, name string, value any) (edit, error) {
	if isFlow(node) {
		if node.Kind == yaml.SequenceNode {
			return t.appendItem(node, value)
		}
		key, err := flow(name, 0)
		if err != nil {
			return edit{}, err
		}
		written, err := flow(value, 0)
		return t.insertFlow(node, key+": "+written, err)
	}
	n := len(node.Content)
	indent := strings.Repeat(" ", node.Content[0].Column-1)
	written, err := t.field(indent, name, value)
	return t.insertLines(t.lastLine(node.Content[n-2], node.Content[n-1]), written, err)
}

// appendItem adds an item at the end of a list.
func (t *text) appendItem(node *yaml.Node, value any) (edit, error) {
	written, err := flow(value, 0)
	if isFlow(node) || err != nil {
		return t.insertFlow(node, written, err)
	}
	n := len(node.Content)
	dash, err := t.dash(node.Content[n-1])
	last := node.Content[n-1]
	return t.insertLines(t.lastLine(last, last), strings.Repeat(" ", dash)+"- "+written, err)
}

// insertFlow adds behind the last entry of a flow collection, or behind its opening bracket.
func (t *text) insertFlow(node *yaml.Node, written string, err error) (edit, error) {
	if err != nil {
		return edit{}, err
	}
	if len(node.Content) == 0 {
		at := t.at(node) + 1
		return edit{at, at, written}, nil
	}
	end, ok := t.end(node.Content[len(node.Content)-1])
	if !ok {
		return edit{}, ErrForm
	}
	return edit{end, end, ", " + written}, nil
}

// insertLines adds lines behind a line.
func (t *text) insertLines(after int, written string, err error) (edit, error) {
	if err != nil {
		return edit{}, err
	}
	at := t.afterLine(after)
	if at == len(t.src) && at > 0 && t.src[at-1] != '\n' {
		return edit{at, at, t.newline + written}, nil
	}
	return edit{at, at, written + t.newline}, nil
}

var dashes = regexp.MustCompile(`^( *)- +$`)

// dash is how far an item's dash is indented.
func (t *text) dash(item *yaml.Node) (int, error) {
	start := t.starts[item.Line-1]
	m := dashes.FindSubmatch(t.src[start:t.at(item)])
	if m == nil {
		return 0, fmt.Errorf("line %d: %w", item.Line, ErrForm)
	}
	return len(m[1]), nil
}
