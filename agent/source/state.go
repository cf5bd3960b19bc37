package source

import "time"

// State says how the repository stands.
type State struct {
	// Tip is the newest commit that was fetched, accepted or not.
	Tip string
	// Applied is the commit in force.
	Applied string
	// SignedBy is the principal that signed or vouched for the commit in force.
	SignedBy string
	// Reason is the kind of Message, for programs.
	Reason Reason
	// Message is one sentence for people. It never holds credentials.
	Message string
	// Since is when the reason began to hold.
	Since time.Time
}

// Reason is one word for why the state is as it is.
type Reason string

// The reasons.
const (
	// Starting: nothing was fetched yet.
	Starting Reason = "Starting"
	// InStep: the tip is in force.
	InStep Reason = "InStep"
	// Unreadable: the server cannot be reached or does not answer as it should; retried with growing pauses.
	Unreadable Reason = "Unreadable"
	// Unauthorized: the server refuses the credentials.
	Unauthorized Reason = "Unauthorized"
	// NotFound: the repository does not exist for these credentials.
	NotFound Reason = "NotFound"
	// NoBranch: the repository does not have the branch yet.
	NoBranch Reason = "NoBranch"
	// Rewritten: the tip does not descend from the commit in force.
	Rewritten Reason = "Rewritten"
	// Unsigned: a signature is asked for and the tip has none.
	Unsigned Reason = "Unsigned"
	// UnknownKey: the tip is signed by a key that is not allowed.
	UnknownKey Reason = "UnknownKey"
	// ExpiredKey: the tip is signed by an allowed key outside its time.
	ExpiredKey Reason = "ExpiredKey"
	// BadSignature: the tip's signature is not right.
	BadSignature Reason = "BadSignature"
	// SignersUnreadable: the list of allowed signers cannot be read, so that nothing can be accepted.
	SignersUnreadable Reason = "SignersUnreadable"
)

// Refused says whether the tip was read and not accepted.
func (r Reason) Refused() bool {
	switch r {
	case Rewritten, Unsigned, UnknownKey, ExpiredKey, BadSignature, SignersUnreadable:
		return true
	}
	return false
}

// say publishes a state when it differs from the last. Since moves only when the reason changes.
func (s *Source) say(reason Reason, message, tip string) {
	next := State{Tip: tip, Applied: s.inForce.Commit, SignedBy: s.inForce.SignedBy, Reason: reason, Message: message}
	s.mu.Lock()
	defer s.mu.Unlock()
	next.Since = s.state.Since
	if next.Reason != s.state.Reason {
		next.Since = s.opts.Clock.Now()
	}
	if next == s.state {
		return
	}
	s.state = next
	s.states.put(next)
}
