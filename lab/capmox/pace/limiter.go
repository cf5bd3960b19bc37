package pace

import (
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Limiter is controller-runtime's default rate limiter at this pace.
func (p Pace) Limiter() workqueue.TypedRateLimiter[reconcile.Request] {
	shortest, longest := p.Backoff()
	perSecond := rate.Limit(10)
	if p > 0 {
		perSecond /= rate.Limit(p)
	}
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](shortest, longest),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(perSecond, 100)},
	)
}
