package nodes

import (
	"fmt"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
)

// Switch is SetNodeOnline with the lock held.
func Switch(s *core.State, name string, online bool) error {
	n := s.Nodes[name]
	switch {
	case n == nil:
		return fmt.Errorf("no node %q", name)
	case n.Online == online:
		return nil
	}
	if !online {
		s.Broadcast()
		for _, g := range s.Guests {
			if g.Node == name {
				guest.Cut(s, g)
			}
		}
		n.Down = s.Now()
	}
	n.Online, n.Told = online, false
	s.ManageSoon()
	if !online {
		return nil
	}
	n.Started = s.Now()
	for _, vmid := range s.VMIDs() {
		if g := s.Guests[vmid]; g != nil && g.Node == name && g.Conf["onboot"] == "1" && s.HARequest(vmid) == nil {
			s.Fork(nil, name, "qmstart", core.Itoa(vmid), func(t *core.Task) error { return guest.PowerOn(s, t, name, vmid, false) })
		}
	}
	return nil
}

// powerNode switches a node off, or off and on again. The call itself is still answered.
func powerNode(c *core.Call) (any, error) {
	if err := Switch(c.State, c.Node(), false); err != nil {
		return nil, err
	}
	if c.Text("command") == "reboot" {
		return nil, Switch(c.State, c.Node(), true)
	}
	return nil, nil
}
