package edit

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// remove makes the edit that takes a field or an item away.
func (t *text) remove(root *yaml.Node, steps []string) (edit, error) {
	places, rest := follow(root, steps)
	if len(rest) > 0 {
		return edit{}, nil
	}
	p := places[len(places)-1]
	switch {
	case t.alone(p) && len(places) == 1:
		return edit{}, ErrForm
	case t.alone(p) && p.parent.Kind == yaml.SequenceNode:
		return t.replace(places[len(places)-2], []any{})
	case t.alone(p):
		return t.replace(places[len(places)-2], map[string]any{})
	case isFlow(p.parent):
		return t.removeFlow(p)
	}
	return t.removeLines(p)
}

// alone tells whether nothing would be left of the parent.
func (t *text) alone(p place) bool {
	return len(p.parent.Content) == 1 || p.parent.Kind == yaml.MappingNode && len(p.parent.Content) == 2
}

// removeFlow takes an entry with the comma behind it, or before it if it is the last.
func (t *text) removeFlow(p place) (edit, error) {
	if p.index+1 < len(p.parent.Content) {
		return edit{start: t.at(p.key), end: t.at(p.parent.Content[p.index+1])}, nil
	}
	before := p.index - 1
	if p.parent.Kind == yaml.MappingNode {
		before--
	}
	start, ok1 := t.end(p.parent.Content[before])
	end, ok2 := t.end(p.value)
	if !ok1 || !ok2 {
		return edit{}, ErrForm
	}
	return edit{start: start, end: end}, nil
}

// removeLines takes the lines of a field or an item. The first field of a list's item leaves its dash to the next.
func (t *text) removeLines(p place) (edit, error) {
	first, last := p.key.Line, t.lastLine(p.key, p.value)
	before := strings.TrimLeft(string(t.src[t.starts[first-1]:t.at(p.key)]), " ")
	if p.parent.Kind == yaml.SequenceNode {
		if _, err := t.dash(p.value); err != nil {
			return edit{}, err
		}
	} else if before != "" {
		return edit{start: t.at(p.key), end: t.at(p.parent.Content[p.index+1])}, nil
	}
	return edit{start: t.starts[first-1], end: t.afterLine(last)}, nil
}
