package agent

import (
	"context"

	"kubehenge.dev/agent/capmox"
)

// addCapmox has the leader see whether the installed capmox is patched. What it would refuse is not applied, and the
// hooks hold upgrades.
func (p *parts) addCapmox(context.Context) error {
	again := make(chan struct{}, 1)
	p.capmox = &capmox.Watch{Direct: p.manager.GetAPIReader(), Clock: p.clock, Changed: func() {
		select {
		case again <- struct{}{}:
		default: // it is asked for already
		}
		p.wakeAll()
	}}
	p.capmoxChanged = again
	p.reconciler.Changes = p.capmox
	return p.manager.Add(p.capmox)
}
