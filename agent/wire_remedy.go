package agent

import (
	"context"

	"kubehenge.dev/agent/remedy"
)

// addRemedy has stuck machines found and replaced.
func (p *parts) addRemedy(context.Context) error {
	return remedy.Setup(p.manager, &remedy.Patrol{
		Client: p.manager.GetClient(), Direct: p.manager.GetAPIReader(), Lists: p.lists, Board: p.board,
		Taken: p.proxmox.Machines().Taken, Fleet: p.store.Fleet, Events: p.events(), Clock: p.clock,
	})
}
