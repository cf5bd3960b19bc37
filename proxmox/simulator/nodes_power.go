package simulator

import "fmt"

// switchNode is SetNodeOnline with the lock held.
func (s *state) switchNode(name string, online bool) error {
	n := s.nodes[name]
	switch {
	case n == nil:
		return fmt.Errorf("no node %q", name)
	case n.online == online:
		return nil
	}
	if !online {
		s.broadcast()
		for _, g := range s.guests {
			if g.node == name {
				s.cut(g)
			}
		}
		n.down = s.now()
	}
	n.online, n.told = online, false
	s.manageSoon()
	if !online {
		return nil
	}
	n.started = s.now()
	for _, vmid := range s.vmids() {
		if g := s.guests[vmid]; g != nil && g.node == name && g.conf["onboot"] == "1" && s.haRequest(vmid) == nil {
			s.fork(nil, name, "qmstart", itoa(vmid), func(t *task) error { return s.powerOn(t, name, vmid, false) })
		}
	}
	return nil
}

// powerNode switches a node off, or off and on again. The call itself is still answered.
func (c *call) powerNode() (any, error) {
	if err := c.s.switchNode(c.node(), false); err != nil {
		return nil, err
	}
	if c.text("command") == "reboot" {
		return nil, c.s.switchNode(c.node(), true)
	}
	return nil, nil
}
