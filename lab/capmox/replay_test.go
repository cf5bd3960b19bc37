package capmox_test

import "testing"

// asRecorded is a Proxmox VE whose answers are recorded: whatever happens in it has happened.
type asRecorded struct{}

func (asRecorded) running(n int) step { return looks(n) }
func (asRecorded) happens(event) step { return func(*world) {} }

// All nine recorded scenarios, answered as the real Proxmox VE answered: the player fails the test at the first call that
// the real capmox did not make.
func TestTheCallsAreThoseOfTheRealCapmox(t *testing.T) {
	for name, s := range scenarios {
		t.Run(name, func(t *testing.T) {
			p := play(t, s.recordings...)
			p.calls = p.calls[:len(p.calls)-s.cut]
			if !s.asksVersion() {
				p.skipVersion() // a client was made in the first scenario only
			}
			s.play(t, asRecorded{}, p.url(), secret, nil)
			p.ended()
		})
	}
}
