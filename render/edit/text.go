package edit

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// text is a file with the places of its lines.
type text struct {
	src     []byte
	starts  []int // of each line
	newline string
}

// edit replaces the bytes from start to end. The zero edit changes nothing.
type edit struct {
	start, end int
	with       string
}

func newText(src []byte) *text {
	t := &text{src: src, starts: []int{0}, newline: "\n"}
	for i, c := range src {
		if c == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	if bytes.Contains(src, []byte("\r\n")) {
		t.newline = "\r\n"
	}
	return t
}

func (t *text) apply(e edit) []byte {
	return slices.Concat(t.src[:e.start], []byte(e.with), t.src[e.end:])
}

// at is where a node begins; the parser counts lines and characters from 1.
func (t *text) at(node *yaml.Node) int {
	if node.Line > len(t.starts) || node.Line < 1 {
		return len(t.src)
	}
	offset := t.starts[node.Line-1]
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(t.src[offset:])
		offset += size
	}
	return min(offset, len(t.src))
}

// lineOf is the line, from 1, that an offset lies in.
func (t *text) lineOf(offset int) int {
	i, exact := slices.BinarySearch(t.starts, offset)
	if exact {
		return i + 1
	}
	return i
}

// lineEnd is the end of a line without its line break.
func (t *text) lineEnd(line int) int {
	end := len(t.src)
	if line < len(t.starts) {
		end = t.starts[line] - 1
	}
	if end > t.starts[line-1] && t.src[end-1] == '\r' {
		end--
	}
	return end
}

// afterLine is where the next line begins.
func (t *text) afterLine(line int) int {
	if line < len(t.starts) {
		return t.starts[line]
	}
	return len(t.src)
}

func (t *text) line(n int) string { return string(t.src[t.starts[n-1]:t.lineEnd(n)]) }

func isFlow(node *yaml.Node) bool {
	return (node.Kind == yaml.MappingNode || node.Kind == yaml.SequenceNode) && node.Style&yaml.FlowStyle != 0
}

// isNothing is a value that is left empty in the text.
func isNothing(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Value == "" && node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// end is where a scalar or flow collection ends. False for what has no end of its own: block collections, block scalars, and what carries an anchor or tag.
func (t *text) end(node *yaml.Node) (int, bool) {
	start := t.at(node)
	switch {
	case node.Anchor != "" || node.Style&yaml.TaggedStyle != 0:
		return 0, false
	case node.Kind == yaml.AliasNode:
		return start + 1 + len(node.Value), true
	case isFlow(node):
		return t.flowEnd(start)
	case node.Kind != yaml.ScalarNode || node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 0, false
	case node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return t.quoteEnd(start)
	}
	return start + len(node.Value), bytes.HasPrefix(t.src[start:], []byte(node.Value))
}

// quoteEnd is behind the closing quote of a string that begins at start.
func (t *text) quoteEnd(start int) (int, bool) {
	quote := t.src[start]
	for i := start + 1; i < len(t.src); i++ {
		switch {
		case quote == '"' && t.src[i] == '\\':
			i++
		case t.src[i] == quote && quote == '\'' && i+1 < len(t.src) && t.src[i+1] == quote:
			i++
		case t.src[i] == quote:
			return i + 1, true
		}
	}
	return 0, false
}

// flowEnd is behind the closing bracket of a collection that begins at start.
func (t *text) flowEnd(start int) (int, bool) {
	depth := 0
	before := byte('{') // the last character that is no space
	for i := start; i < len(t.src); i++ {
		c := t.src[i]
		switch {
		case c == '#' && isSpace(t.src[i-1]):
			i = t.lineEnd(t.lineOf(i))
			continue
		case (c == '"' || c == '\'') && strings.IndexByte("{[,:", before) >= 0:
			end, ok := t.quoteEnd(i)
			if !ok {
				return 0, false
			}
			i = end - 1
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
		if !isSpace(c) {
			before = c
		}
	}
	return 0, false
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// lastLine is the last line of a value; key is what it belongs to, or the value itself in a list.
func (t *text) lastLine(key, value *yaml.Node) int {
	if isNothing(value) {
		return key.Line
	}
	if end, ok := t.end(value); ok {
		return t.lineOf(end - 1)
	}
	if n := len(value.Content); n > 0 && !isFlow(value) {
		if value.Kind == yaml.MappingNode {
			return t.lastLine(value.Content[n-2], value.Content[n-1])
		}
		return t.lastLine(value.Content[n-1], value.Content[n-1])
	}
	return t.blockEnd(key)
}

// blockEnd is the last line that is indented deeper than a key, or the key's own.
func (t *text) blockEnd(key *yaml.Node) int {
	last := key.Line
	for n := key.Line + 1; n <= len(t.starts); n++ {
		line := t.line(n)
		trimmed := strings.TrimLeft(line, " ")
		if strings.TrimSpace(trimmed) == "" {
			continue
		}
		if len(line)-len(trimmed) < key.Column {
			break
		}
		last = n
	}
	return last
}
