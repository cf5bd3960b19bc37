package proxmox_test

import (
	"time"

	"k8s.io/utils/clock"
)

// instant is the real clock with timers that have all run out: pauses cost no time.
type instant struct{ clock.RealClock }

func (instant) NewTimer(time.Duration) clock.Timer { return clock.RealClock{}.NewTimer(0) }
