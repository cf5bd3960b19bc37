package proxmox

import (
	"context"
	"errors"
	"net/http"
	"time"

	"k8s.io/utils/clock"
)

// pauses are the waits before a read is asked again. They bridge a worker of Proxmox VE that is recycled (after 1000
// requests, and on upgrades) and a proxy that restarts; longer outages are the caller's.
var pauses = []time.Duration{200 * time.Millisecond, time.Second}

// retry repeats reads that had no answer. Writes are never repeated here: whether they had an effect is only known
// by looking.
type retry struct {
	next  http.RoundTripper
	clock clock.Clock
}

// RoundTrip asks once, and a GET that had no answer up to twice more.
func (r *retry) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := r.next.RoundTrip(req)
	for _, pause := range pauses {
		if err == nil || req.Method != http.MethodGet || !unanswered(err) {
			break
		}
		if sleep(req.Context(), r.clock, pause) != nil {
			break
		}
		res, err = r.next.RoundTrip(req)
	}
	return res, err
}

// unanswered is true where not Proxmox VE itself spoke: no connection, a gateway's status, an empty success.
func unanswered(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Status {
	case 0, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return e.Kind == Transient
	}
	return e.Kind == Unreadable
}

func sleep(ctx context.Context, c clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}
