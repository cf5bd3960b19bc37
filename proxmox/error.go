package proxmox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Kind says what an Error means for the caller.
type Kind string

// The kinds of errors. Transient, Locked, NodeOffline and Unreadable are worth asking again later; the others need
// a change, by a person or by the caller.
const (
	// NotFound is an object that does not exist, or that Proxmox VE does not show to this token.
	NotFound Kind = "NotFound"
	// Exists is an object that was to be made and is there already.
	Exists Kind = "Exists"
	// InUse is an object that cannot go yet: a pool with members, a VM that runs.
	InUse Kind = "InUse"
	// Forbidden is a privilege that the token lacks; the reason names path and privilege.
	Forbidden Kind = "Forbidden"
	// Unauthorized is a token that Proxmox VE does not know, or that could not be read.
	Unauthorized Kind = "Unauthorized"
	// Untrusted is a server certificate that the given CA does not vouch for.
	Untrusted Kind = "Untrusted"
	// Locked is an object that another operation holds.
	Locked Kind = "Locked"
	// NodeOffline is a node that Proxmox VE could not reach.
	NodeOffline Kind = "NodeOffline"
	// TaskFailed is a task that ended with another exit status than OK; the reason is that status.
	TaskFailed Kind = "TaskFailed"
	// Invalid is a parameter that Proxmox VE refuses; Fields says which and why.
	Invalid Kind = "Invalid"
	// Unsupported is a call that this version of Proxmox VE does not have.
	Unsupported Kind = "Unsupported"
	// Unreadable is an answer that claims success and is not Proxmox VE's: empty, not JSON, or of another form.
	Unreadable Kind = "Unreadable"
	// Transient is everything that may pass: no answer, no quorum, and errors of Proxmox VE that no other kind covers.
	Transient Kind = "Transient"
)

// Error is Proxmox VE's refusal, or the lack of an answer.
type Error struct {
	// Kind is what it means.
	Kind Kind
	// Method and Path are the call, the path below /api2/json and without its query.
	Method, Path string
	// Status is the HTTP status; 0 when there was no answer. For a failed task it is 0 too.
	Status int
	// Reason is Proxmox VE's own sentence, or the network's.
	Reason string
	// Fields are Proxmox VE's sentences about single parameters, by parameter.
	Fields map[string]string

	cause error
}

// Error is one line: what was called, and what the answer was.
func (e *Error) Error() string {
	switch {
	case e.Kind == TaskFailed:
		return fmt.Sprintf("Proxmox VE task %s failed: %s", e.Path, e.Reason)
	case e.Status == 0:
		return fmt.Sprintf("no answer of Proxmox VE to %s %s: %s", e.Method, e.Path, e.Reason)
	}
	return fmt.Sprintf("Proxmox VE answered %s %s with %d: %s", e.Method, e.Path, e.Status, e.sentence())
}

// Unwrap is the network's or the decoder's error, where there is one.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) sentence() string {
	if len(e.Fields) == 0 {
		return e.Reason
	}
	fields := make([]string, 0, len(e.Fields))
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		fields = append(fields, name+": "+e.Fields[name])
	}
	return strings.TrimSuffix(e.Reason, ".") + ": " + strings.Join(fields, "; ")
}

// KindOf is the kind of the Error in err's chain; empty where there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// Is reports whether err holds an Error of one of the kinds.
func Is(err error, kinds ...Kind) bool {
	return slices.Contains(kinds, KindOf(err)) && err != nil
}
