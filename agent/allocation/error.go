package allocation

import "errors"

// Kind says what an Error waits for.
type Kind string

// The kinds of errors. None of them passes by trying harder; Contended passes at the next try.
const (
	// Full is a network or a VMID range without room; a commit to the Fleet helps.
	Full Kind = "Full"
	// Held is a pool that holds VMs which this management cluster knows nothing of.
	Held Kind = "Held"
	// Changed is a pool that somebody changed or removed, so that what is in use cannot be told.
	Changed Kind = "Changed"
	// Occupied is a pool that cannot be released yet since something is left in it.
	Occupied Kind = "Occupied"
	// Invalid is a request that the Fleet cannot serve as it is written.
	Invalid Kind = "Invalid"
	// Contended is another agent that gave out the same at the same moment; nothing was given.
	Contended Kind = "Contended"
)

// Error is a reason to wait, in one sentence for the claim's status. Errors of Proxmox VE itself are not of this type.
type Error struct {
	// Kind is what it waits for.
	Kind Kind
	// Pool is the Proxmox VE pool it is about.
	Pool string
	// Message is the sentence.
	Message string
}

// Error is the sentence.
func (e *Error) Error() string { return e.Message }

// KindOf is the kind of the Error in err's chain; empty where there is none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}
