package signin

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"kubehenge.dev/render/told"
)

// free is how many attempts may fail before the next must wait, by what they have in common. Many people can be behind one address.
const (
	freeByUser    = 5
	freeByAddress = 30
)

// The first pause, which doubles with each failure, and the longest.
const (
	firstPause   = 30 * time.Second
	longestPause = 10 * time.Minute
)

// forgetAfter is when failures no longer count.
const forgetAfter = time.Hour

// maxRemembered bounds the memory that guessing can take.
const maxRemembered = 20_000

// WaitError says that there were too many failed attempts.
type WaitError struct {
	// For is how long until the next attempt may be made.
	For time.Duration
	// Who is the user or the address that the attempts have in common.
	Who string
}

var tooMany = told.Define("sign-in-wait", "too many failed attempts to sign in; the next may be made in {span}")

// Told says how long.
func (e *WaitError) Told() told.Sentence {
	return tooMany.With(told.Params{"span": told.Span(e.For.Round(time.Second))})
}

// Error says for whom, and how long.
func (e *WaitError) Error() string {
	return fmt.Sprintf("too many failed attempts to sign in for %s; the next may be made in %s", e.Who, e.For.Round(time.Second))
}

// Limiter counts failed attempts, by user and by address. An attempt counts as failed from its beginning, so that many at once gain nothing. Whoever signed
// in from an address is counted there on their own, so that nobody far away can keep them out by guessing.
type Limiter struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	failures map[string]*failures
	familiar map[[2]string]bool // user and network
}

// failures are those of one user or address.
type failures struct {
	count int
	until time.Time // no attempt before
	last  time.Time
}

// NewLimiter counts by a clock.
func NewLimiter(c clock.PassiveClock) *Limiter {
	return &Limiter{clock: c, failures: map[string]*failures{}, familiar: map[[2]string]bool{}}
}

// Attempt is one attempt to sign in that was let through.
type Attempt struct {
	limiter *Limiter
	keys    []limitKey
	pair    [2]string // user and network
}

// limitKey is what attempts have in common.
type limitKey struct {
	who    string
	free   int
	before time.Time // until when attempts had to wait before this one
	set    time.Time // until when they have to because of it
}

// Begin lets an attempt through, or says how long to wait. The caller ends it with Succeeded or Undecided; without that it has failed. An empty user is for
// secrets that nobody can guess, which only their address is counted for.
func (l *Limiter) Begin(user string, address netip.Addr) (*Attempt, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	a := &Attempt{limiter: l, pair: [2]string{strings.ToLower(user), network(address)}} // some realms take a name in any case
	a.keys = l.keys(a.pair)
	for i, k := range a.keys {
		f := l.failures[k.who]
		if f != nil && f.until.After(now) {
			return nil, &WaitError{For: f.until.Sub(now), Who: k.who}
		}
		if f != nil {
			a.keys[i].before = f.until
		}
	}
	for i, k := range a.keys {
		a.keys[i].set = l.fail(k, now)
	}
	return a, nil
}

func (l *Limiter) keys(pair [2]string) []limitKey {
	user, from := pair[0], pair[1]
	keys := []limitKey{{who: "the address " + from, free: freeByAddress}}
	switch {
	case l.familiar[pair]:
		keys = append(keys, limitKey{who: "the user " + user + " at " + from, free: freeByUser})
	case user != "":
		keys = append(keys, limitKey{who: "the user " + user, free: freeByUser})
	}
	return keys
}

func (l *Limiter) fail(k limitKey, now time.Time) (until time.Time) {
	f := l.failures[k.who]
	if f == nil || now.Sub(f.last) > forgetAfter {
		l.room(now)
		f = &failures{}
		l.failures[k.who] = f
	}
	f.count++
	f.last = now
	if over := f.count - k.free; over >= 0 {
		f.until = now.Add(min(firstPause<<min(over, 10), longestPause))
	}
	return f.until
}

// room drops what no longer counts, and the oldest where that is not enough. The caller holds l.mu.
func (l *Limiter) room(now time.Time) {
	if len(l.failures) < maxRemembered {
		return
	}
	oldest := ""
	for who, f := range l.failures {
		if now.Sub(f.last) > forgetAfter {
			delete(l.failures, who)
		} else if oldest == "" || f.last.Before(l.failures[oldest].last) {
			oldest = who
		}
	}
	if len(l.failures) >= maxRemembered {
		delete(l.failures, oldest)
	}
}

// Succeeded forgets the user's failures. Those of the address stay, or whoever has an account could guess for ever from it.
func (a *Attempt) Succeeded() {
	l := a.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	l.takeBack(a.keys[0])
	if a.pair[0] == "" {
		return
	}
	delete(l.failures, a.keys[1].who)
	if len(l.familiar) >= maxRemembered {
		clear(l.familiar)
	}
	l.familiar[a.pair] = true
}

// Undecided takes the attempt back: nobody said that it was wrong.
func (a *Attempt) Undecided() {
	a.limiter.mu.Lock()
	defer a.limiter.mu.Unlock()
	for _, k := range a.keys {
		a.limiter.takeBack(k)
	}
}

func (l *Limiter) takeBack(k limitKey) {
	f := l.failures[k.who]
	if f == nil {
		return
	}
	if f.until.Equal(k.set) { // and not what another attempt brought about meanwhile
		f.until = k.before
	}
	if f.count--; f.count <= 0 {
		delete(l.failures, k.who)
	}
}

// network is what counts as one address: of IPv6 the /64, since everybody has as many addresses as they like.
func network(a netip.Addr) string {
	if a = a.Unmap(); a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
