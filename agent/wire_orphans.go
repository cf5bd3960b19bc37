package agent

import (
	"context"

	"kubehenge.dev/agent/orphans"
)

// addOrphans has VMs told that belong to no machine, and removed where a person asked.
func (p *parts) addOrphans(context.Context) error {
	ha, err := p.haManager()
	if err != nil {
		return err
	}
	events := p.events()
	collector := &orphans.Collector{
		Client: p.manager.GetClient(), Direct: p.manager.GetAPIReader(), Fleet: p.store.Fleet, Forget: p.lists.Forget, Events: events,
		Proxmox: orphans.Proxmox{Machines: p.proxmox.Machines(), Changes: p.proxmox.Changes(), Tasks: p.proxmox.Tasks(), HA: ha},
	}
	if err := orphans.Setup(p.manager, collector); err != nil {
		return err
	}
	return p.manager.Add(&orphans.Watch{
		Client: p.manager.GetClient(), Fleet: p.store.Fleet, Guests: p.lists, Board: p.board, Events: events, Clock: p.clock,
	})
}
