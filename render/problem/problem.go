// Package problem says what is wrong with a file of the repository: where, and what would be right.
package problem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kubehenge.dev/render/told"
)

// Problem is one reason why a file, or what it renders to, cannot be taken.
type Problem struct {
	// Path is the file, or the folder where there is no one file, relative to the repository's root.
	Path string `json:"path"`
	// Line is the line in the file, from 1; 0 where there is none.
	Line int `json:"line,omitempty"`
	// Field is the field, such as spec.controlPlane.replicas; empty where there is none.
	Field string `json:"field,omitempty"`
	// Message says what is wrong and what would be right, as one sentence without a full stop.
	Message string `json:"message"`
	// Told are the codes of sentences, by field.
	Told told.Fields `json:"told,omitempty"`
}

// String is the problem on one line: clusters/a/b/claim.yaml:7: spec.controlPlan: unknown field; did you mean controlPlane?
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	b.WriteString(": ")
	if p.Field != "" {
		b.WriteString(p.Field)
		b.WriteString(": ")
	}
	b.WriteString(strings.ReplaceAll(p.Message, "\n", " "))
	return b.String()
}

// Sort orders problems by path, line, field and message, and drops repeated ones.
func Sort(list []Problem) []Problem {
	slices.SortFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, func(a, b Problem) bool {
		return a.Path == b.Path && a.Line == b.Line && a.Field == b.Field && a.Message == b.Message
	})
}
