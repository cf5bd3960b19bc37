package sync

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// freshPriority puts what a commit changed before all that live objects wake.
const freshPriority = 100

// Queue wakes claims for the sake of a commit: at once, before everything else, and with no delay left over from
// earlier failures. It is a controller's source; keys that come before the controller starts wait for it.
type Queue struct {
	mu      sync.Mutex
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
	pending []types.NamespacedName
}

// Start takes the controller's queue.
func (q *Queue) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	q.mu.Lock()
	q.queue = queue
	pending := q.pending
	q.pending = nil
	q.mu.Unlock()
	q.Add(pending...)
	return nil
}

// Add wakes claims.
func (q *Queue) Add(keys ...types.NamespacedName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.queue == nil {
		q.pending = append(q.pending, keys...)
		return
	}
	prioritised, _ := q.queue.(priorityqueue.PriorityQueue[reconcile.Request])
	for _, key := range keys {
		req := reconcile.Request{NamespacedName: key}
		q.queue.Forget(req)
		if prioritised != nil {
			prioritised.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(freshPriority)}, req)
			continue
		}
		q.queue.Add(req)
	}
}
