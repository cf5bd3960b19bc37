package appliance

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/utils/clock"
)

// restEvery is how often the appliance looks whether it has come to rest.
const restEvery = 15 * time.Second

// The work, in bytes of memory that were asked for, after which it is worth giving memory back, and up to which a look finds the appliance at rest:
// the questions whether the management cluster answers, and sessions that are renewed, stay far below.
const (
	worked  = 16 << 20
	resting = 4 << 20
)

// rest is what is remembered of the memory that was asked for. Go keeps what a busy hour took for minutes, and up to twice what is in use for ever.
type rest struct {
	seen     uint64 // at the last look
	returned uint64 // when memory was last given back
}

// due tells whether memory is to be given back now, after all that was asked for since the start.
func (r *rest) due(asked uint64) bool {
	recent := asked - r.seen
	r.seen = asked
	if recent > resting || asked-r.returned < worked {
		return false
	}
	r.returned = asked
	return true
}

// keepSmall gives memory back to the machine whenever work has ended, until the context is done.
func keepSmall(ctx context.Context, c clock.WithTicker) {
	ticker := c.NewTicker(restEvery)
	defer ticker.Stop()
	var r rest
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			if r.due(askedFor()) {
				debug.FreeOSMemory()
			}
		}
	}
}

// askedFor is the memory that was asked for since the start, in bytes.
func askedFor() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
