package ticket

import (
	"strings"
	"testing"
	"time"
)

func TestWhatIsSignedIsValidForItsTime(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s, other := New(func() time.Time { return now }), New(func() time.Time { return now })
	ticket, csrf, console := s.Sign("a:b@pve", "secret"), s.SignCSRF("a@pve"), s.SignConsole("a@pve", "/vms/100", "5901")
	valid := func() [3]bool {
		data, ok := s.Verify(ticket, "secret")
		return [3]bool{ok && data == "a:b@pve", s.VerifyCSRF("a@pve", csrf), s.VerifyConsole("password:"+console, "a@pve", "/vms/100", "5901")}
	}
	start := now
	for age, want := range map[time.Duration][3]bool{
		0: {true, true, true}, 39 * time.Second: {true, true, true}, 40 * time.Second: {true, true, false}, 7199 * time.Second: {true, true, false}, 7200 * time.Second: {},
		-19 * time.Second: {true, true, true}, -20 * time.Second: {true, true, false}, -299 * time.Second: {true, true, false}, -300 * time.Second: {},
	} {
		now = start.Add(age)
		if got := valid(); got != want {
			t.Errorf("at an age of %v: %v, want %v", age, got, want)
		}
	}
	now = start
	_, secret := s.Verify(ticket, "")
	_, foreign := other.Verify(ticket, "secret")
	_, changed := s.Verify(strings.Replace(ticket, "a%3Ab", "root", 1), "secret")
	_, none := s.Verify("PVE:x", "")
	if secret || foreign || changed || none || s.VerifyCSRF("b@pve", csrf) || s.VerifyConsole(console, "a@pve", "/vms/101", "5901") || s.VerifyCSRF("a@pve", "x") {
		t.Error("something that was not signed so is valid")
	}
}
