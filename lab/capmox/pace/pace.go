// Package pace scales the stand-in's waits. The calls stay the same; only the time between them changes.
package pace

import "time"

// Pace multiplies capmox's own waits: 1 is capmox's pace, 0.05 twenty times as fast. The zero value is 1.
type Pace float64

// Capmox's waits at pace 1, as in capmox at commit 38e3ded and go-proxmox 0.8.0.
const (
	requeue       = 10 * time.Second       // api/v1alpha2 DefaultReconcilerRequeue
	endpointWait  = 200 * time.Millisecond // internal/controller: no endpoint yet
	taskRetry     = time.Minute            // internal/service/taskservice: failed task
	reuseGrace    = time.Minute            // pkg/kubernetes/ipam: an address whose machine is gone
	taskPoll      = time.Second            // go-proxmox DefaultWaitInterval
	execPoll      = 100 * time.Millisecond // go-proxmox DefaultAgentWaitInterval
	firstBackoff  = 5 * time.Millisecond   // controller-runtime's rate limiter
	longestBackof = 1000 * time.Second
)

// Scale returns d at this pace.
func (p Pace) Scale(d time.Duration) time.Duration {
	if p <= 0 {
		return d
	}
	return time.Duration(float64(d) * float64(p))
}

// Requeue is the wait before a machine or cluster that is not done is looked at again.
func (p Pace) Requeue() time.Duration { return p.Scale(requeue) }

// EndpointWait is the wait for an endpoint from outside.
func (p Pace) EndpointWait() time.Duration { return p.Scale(endpointWait) }

// TaskRetry is the wait after a failed task.
func (p Pace) TaskRetry() time.Duration { return p.Scale(taskRetry) }

// ReuseGrace is how long an address stays unused after its machine is gone. The in-cluster IPAM provider keeps it, in
// whole seconds.
func (p Pace) ReuseGrace() time.Duration { return p.Scale(reuseGrace) }

// TaskPoll is the wait between two looks at a task, and between two questions to a silent guest agent.
func (p Pace) TaskPoll() time.Duration { return p.Scale(taskPoll) }

// ExecPoll is the wait between two looks at a command in the guest.
func (p Pace) ExecPoll() time.Duration { return p.Scale(execPoll) }

// Backoff is the shortest and the longest wait after an error.
func (p Pace) Backoff() (shortest, longest time.Duration) {
	return p.Scale(firstBackoff), p.Scale(longestBackof)
}
