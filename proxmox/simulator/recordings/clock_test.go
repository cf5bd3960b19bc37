package recordings

import (
	"time"

	"k8s.io/utils/clock"

	"kubehenge.dev/proxmox/simulator"
)

// fastClock runs faster than the real one.
type fastClock struct {
	clock.RealClock
	start time.Time
	times float64
}

func newFastClock(times float64) *fastClock { return &fastClock{start: time.Now(), times: times} }

func (c *fastClock) real(d time.Duration) time.Duration { return time.Duration(float64(d) / c.times) }

func (c *fastClock) Now() time.Time {
	return c.start.Add(time.Duration(float64(time.Since(c.start)) * c.times))
}
func (c *fastClock) Since(t time.Time) time.Duration        { return c.Now().Sub(t) }
func (c *fastClock) After(d time.Duration) <-chan time.Time { return c.RealClock.After(c.real(d)) }
func (c *fastClock) NewTimer(d time.Duration) clock.Timer   { return c.RealClock.NewTimer(c.real(d)) }
func (c *fastClock) NewTicker(d time.Duration) clock.Ticker { return c.RealClock.NewTicker(c.real(d)) }
func (c *fastClock) Tick(d time.Duration) <-chan time.Time  { return c.RealClock.Tick(c.real(d)) }
func (c *fastClock) Sleep(d time.Duration)                  { c.RealClock.Sleep(c.real(d)) }

// recorded is a profile with the delays of the recorded cluster's HA manager, and no others.
func recorded() simulator.Profile {
	p := simulator.Instant()
	p.ManagerCycle, p.FenceDelay, p.TimeoutScale = 10*time.Second, time.Minute, 1
	return p
}
