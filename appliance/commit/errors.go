package commit

import (
	"errors"
	"fmt"
	"strings"

	"kubehenge.dev/render"
	"kubehenge.dev/render/permission"
	"kubehenge.dev/render/told"
)

var (
	// ErrNotFound says that the repository has no such cluster or commit.
	ErrNotFound = errors.New("not found")
	// ErrByHand says that the change cannot be made without touching more than it should; somebody edits the files.
	ErrByHand = errors.New("must be edited by hand")
	// ErrNotUndoable says that a commit cannot be undone, and what can be done instead.
	ErrNotUndoable = errors.New("cannot be undone")
)

// ProblemsError says that the change does not pass the checks.
type ProblemsError struct{ Problems []render.Problem }

var failsChecks = told.Define("fails-checks", "the change does not pass the checks")

// Told says that there are problems, which stand beside it.
func (e *ProblemsError) Told() told.Sentence { return failsChecks.With(nil) }

// Error is all problems on one line.
func (e *ProblemsError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return e.Told().String() + ": " + strings.Join(lines, "; ")
}

// DeniedError says which privileges are missing.
type DeniedError struct{ Answer permission.Answer }

// Told names the privileges and paths.
func (e *DeniedError) Told() told.Sentence { return e.Answer.Told["reason"] }

// Error names the privileges and paths.
func (e *DeniedError) Error() string { return e.Answer.Reason }

// Conflict is one field that somebody else changed meanwhile.
type Conflict struct {
	// Field is the field's path, or a file's.
	Field string `json:"field"`
	// Was is what it was when the person looked, Theirs what it is now, Yours what the person wants.
	Was    any `json:"was"`
	Theirs any `json:"theirs"`
	Yours  any `json:"yours"`
	// By is who changed it, in Commit; both empty when that is not known.
	By     string `json:"by,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// ConflictError says what somebody else changed meanwhile.
type ConflictError struct{ Conflicts []Conflict }

var changedMeanwhile = told.Define("changed-meanwhile", "{field} was changed meanwhile")

// Told names the first field; all of them stand beside it.
func (e *ConflictError) Told() told.Sentence {
	return changedMeanwhile.With(told.Params{"field": e.Conflicts[0].Field})
}

// Error tells the first conflict.
func (e *ConflictError) Error() string {
	c := e.Conflicts[0]
	by := ""
	if c.By != "" {
		by = " by " + c.By
	}
	return fmt.Sprintf("%s was %v when you looked and was changed to %v%s meanwhile; you want %v", c.Field, shown(c.Was), shown(c.Theirs), by, shown(c.Yours))
}

func shown(value any) any {
	if value == nil {
		return "not set"
	}
	return value
}
