package machine

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
)

var errTaskNotFound = errors.New("task not found")

// followTask holds everything else back while a task runs. A failed task is looked at once more a minute
// later and then forgotten.
func (s *scope) followTask(ctx context.Context) (bool, error) {
	status := &s.infraMachine.Status
	if status.TaskRef == nil {
		return false, nil
	}
	task, err := s.proxmox.Task(ctx, calls.UPID(*status.TaskRef))
	if err != nil {
		return false, errTaskNotFound
	}
	if !status.RetryAfter.IsZero() {
		if left := status.RetryAfter.Sub(s.Clock.Now()); left > 0 {
			return false, &waitError{why: "last task failed", after: left}
		}
	}
	switch {
	case task.Running():
		return true, nil
	case task.Succeeded():
		status.TaskRef = nil
		return false, nil
	}
	s.noteFailure(task)
	if status.RetryAfter.IsZero() {
		status.RetryAfter = ptr.To(metav1.NewTime(s.Clock.Now().Add(s.Pace.TaskRetry())))
	} else {
		status.TaskRef, status.RetryAfter = nil, nil
	}
	return true, nil
}

// noteFailure puts a failed task into the condition. qmstart may fail with the VM running, and does not
// change the state; any other task moves it to TaskFailed.
func (s *scope) noteFailure(task calls.Task) {
	reason := infrav1.TaskFailedReason
	if task.Kind == "qmstart" {
		reason = s.reason()
	}
	s.state(reason, fmt.Sprintf("%s: %s", task.Kind, task.ExitStatus))
}

// refuseFailed is where a machine ends whose task failed: the same error for ever.
func (s *scope) refuseFailed(context.Context) (bool, error) {
	switch s.reason() {
	case infrav1.VMProvisionFailedReason, infrav1.TaskFailedReason:
		return false, errors.New("invalid state (failed and no error)")
	}
	return false, nil
}
