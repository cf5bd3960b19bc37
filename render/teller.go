package render

import (
	"fmt"

	"kubehenge.dev/render/problem"
	"kubehenge.dev/render/strict"
	"kubehenge.dev/render/told"
)

// teller collects problems of one object's fields and finds their lines in the files that the object was made from.
type teller struct {
	sources  []strict.Source
	kind     string
	problems []Problem
}

// field tells a problem of a field.
func (t *teller) field(field, format string, args ...any) {
	path, line := strict.Locate(t.sources, t.kind, field)
	t.problems = append(t.problems, Problem{Path: path, Line: line, Field: field, Message: fmt.Sprintf(format, args...)})
}

// say tells a problem of a field in words that other languages have too.
func (t *teller) say(field string, text *told.Text, p told.Params) {
	s := text.With(p)
	t.field(field, "%s", s)
	t.problems[len(t.problems)-1].Told = s.In("message")
}

func (t *teller) issues(list []strict.Issue) {
	for _, issue := range list {
		t.field(issue.Field, "%s", issue.Message)
	}
}

func (t *teller) sorted() []Problem { return problem.Sort(t.problems) }
