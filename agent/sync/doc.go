// Package sync answers: what has to happen so that the management cluster is what Git says, and does it.
//
// Two halves. The intake (intake.go) takes each accepted commit, renders it, and either takes it over as the
// desired state or, where a guard speaks against it (guard.go), leaves the last good one in force. The
// reconciler (reconciler.go) works on one claim at a time, through the named phases of phases.go, and writes one
// status at the end. Everything it needs to know it takes from the desired state and from live objects, so that
// it may be stopped between any two phases.
package sync
