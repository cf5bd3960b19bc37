package signin_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	testclock "k8s.io/utils/clock/testing"

	"kubehenge.dev/appliance/signin"
)

var (
	home  = netip.MustParseAddr("192.0.2.1")
	other = netip.MustParseAddr("192.0.2.2")
)

// try makes attempts that all fail, and gives how long the next must wait.
func try(t *testing.T, l *signin.Limiter, n int, user string, from netip.Addr) time.Duration {
	t.Helper()
	for range n {
		if _, err := l.Begin(user, from); err != nil {
			wait := (*signin.WaitError)(nil)
			if !errors.As(err, &wait) {
				t.Fatal(err)
			}
			return wait.For
		}
	}
	return 0
}

func TestFailedAttemptsMakeTheNextWait(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1800000000, 0))
	l := signin.NewLimiter(clock)
	if wait := try(t, l, 5, "alice@pve", home); wait != 0 {
		t.Fatalf("one of the first five waited %s", wait)
	}
	want := 30 * time.Second
	for range 8 {
		if got := try(t, l, 1, "alice@pve", other); got != want {
			t.Fatalf("waits %s, want %s", got, want)
		}
		clock.SetTime(clock.Now().Add(want))
		if got := try(t, l, 1, "alice@pve", other); got != 0 {
			t.Fatalf("waited %s although the time was over", got)
		}
		want = min(2*want, 10*time.Minute)
	}
	if wait := try(t, l, 1, "bob@pve", home); wait != 0 {
		t.Errorf("bob waits %s for alice", wait)
	}
	clock.SetTime(clock.Now().Add(2 * time.Hour))
	if wait := try(t, l, 5, "alice@pve", home); wait != 0 {
		t.Errorf("old failures make alice wait %s", wait)
	}
}

func TestManyUsersFromOneAddressAreSlowedDown(t *testing.T) {
	l := signin.NewLimiter(testclock.NewFakeClock(time.Unix(1800000000, 0)))
	a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff:2")
	for i := range 30 {
		if wait := try(t, l, 1, string(rune('a'+i))+"@pve", a); wait != 0 {
			t.Fatalf("attempt %d waits %s", i, wait)
		}
	}
	if wait := try(t, l, 1, "next@pve", b); wait != 30*time.Second {
		t.Errorf("another address of the same network waits %s", wait)
	}
	if wait := try(t, l, 1, "next@pve", netip.MustParseAddr("2001:db8:0:1::1")); wait != 0 {
		t.Errorf("another network waits %s", wait)
	}
}

func TestSuccessForgetsAndNoAnswerDoesNotCount(t *testing.T) {
	clock := testclock.NewFakeClock(time.Unix(1800000000, 0))
	l := signin.NewLimiter(clock)
	for range 100 {
		a, err := l.Begin("alice@pve", home)
		if err != nil {
			t.Fatal(err)
		}
		a.Undecided()
	}
	try(t, l, 4, "alice@pve", home)
	a, err := l.Begin("alice@pve", home)
	if err != nil {
		t.Fatal(err)
	}
	a.Succeeded()
	if wait := try(t, l, 5, "alice@pve", home); wait != 0 {
		t.Errorf("waits %s after a success", wait)
	}
	clock.SetTime(clock.Now().Add(30 * time.Second))
	if a, err = l.Begin("alice@pve", home); err != nil {
		t.Fatal(err)
	}
	a.Undecided()
	if wait := try(t, l, 1, "alice@pve", home); wait != 0 {
		t.Errorf("an attempt that nobody judged makes the next wait %s", wait)
	}
}

func TestAStrangerKeepsNobodyOutWhoIsKnownWhereTheyAre(t *testing.T) {
	l := signin.NewLimiter(testclock.NewFakeClock(time.Unix(1800000000, 0)))
	a, err := l.Begin("alice@pve", home)
	if err != nil {
		t.Fatal(err)
	}
	a.Succeeded()
	if wait := try(t, l, 6, "alice@pve", other); wait == 0 {
		t.Error("a stranger may guess for ever")
	}
	if wait := try(t, l, 1, "alice@pve", home); wait != 0 {
		t.Errorf("alice waits %s for a stranger", wait)
	}
	if wait := try(t, l, 5, "alice@pve", home); wait == 0 {
		t.Error("at home one may guess for ever")
	}
}

func TestLettersOfAnotherCaseAreNoOtherUser(t *testing.T) {
	l := signin.NewLimiter(testclock.NewFakeClock(time.Unix(1800000000, 0)))
	names := []string{"alice@corp", "Alice@corp", "ALICE@corp", "aLICE@corp", "alice@CORP"}
	for _, name := range names {
		if wait := try(t, l, 1, name, home); wait != 0 {
			t.Fatalf("%s waits %s", name, wait)
		}
	}
	if wait := try(t, l, 1, "AlIcE@corp", other); wait != 30*time.Second {
		t.Errorf("the sixth attempt waits %s", wait)
	}
}

func TestWhoKnowsThePasswordGainsNoGuessesAtTheFactor(t *testing.T) {
	l := signin.NewLimiter(testclock.NewFakeClock(time.Unix(1800000000, 0)))
	try(t, l, 3, "alice@pve", home)
	undecided, err := l.Begin("alice@pve", home)
	if err != nil {
		t.Fatal(err)
	}
	try(t, l, 1, "alice@pve", home) // the fifth, which makes the next wait
	undecided.Undecided()
	if wait := try(t, l, 1, "alice@pve", home); wait != 30*time.Second {
		t.Errorf("the next guess waits %s", wait)
	}
}
