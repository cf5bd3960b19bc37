package agent

import (
	"context"
	"fmt"

	"kubehenge.dev/agent/ha"
	"kubehenge.dev/proxmox"
)

// addHA has Proxmox VE's HA manager kept as it is to be, with a token of its own: only Sys.Console on / may write
// there, which the agent's other work must not have.
func (p *parts) addHA(context.Context) error {
	manager, err := p.haManager()
	if err != nil {
		return err
	}
	return ha.Setup(p.manager, &ha.Keeper{
		Client: p.manager.GetClient(), Fleet: p.store.Fleet, Lists: p.lists, Fresh: p.proxmox.Machines().List, HA: manager,
		Board: p.board, Events: p.events(), Clock: p.clock,
	})
}

// haManager is nil without a token.
func (p *parts) haManager() (proxmox.HA, error) {
	o := p.options
	if o.ProxmoxHATokenID == "" {
		return nil, nil
	}
	ca, err := optionalFile(o.ProxmoxCAFile)
	if err != nil {
		return nil, fmt.Errorf("read --proxmox-ca-file: %w", err)
	}
	c, err := proxmox.Connect(proxmox.Options{
		URL: o.ProxmoxURL, TokenID: o.ProxmoxHATokenID, TokenFile: o.ProxmoxHATokenFile, CA: ca, OnCall: p.metrics.proxmoxCall,
	})
	if err != nil {
		return nil, fmt.Errorf("connect with the token for HA: %w", err)
	}
	return c.HA(), nil
}
