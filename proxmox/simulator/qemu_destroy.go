package simulator

// destroyVM deletes a virtual machine with the images that belong to it.
func (c *call) destroyVM() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	purge := c.flag("purge", false)
	switch {
	case c.flag("skiplock", false) && !c.isSuperuser():
		return nil, invalid("skiplock", "Only root may use this option.")
	case g.conf["protection"] == "1":
		return nil, fail("can't remove VM %d - protection mode enabled", g.vmid)
	case !purge && c.s.ha.resources[haID(g)] != nil:
		return nil, fail("unable to remove VM %d - used in HA resources and purge parameter not set.", g.vmid)
	case !purge && c.s.replicates(g.vmid) != nil:
		return nil, c.s.replicates(g.vmid)
	case g.state != stopped:
		return nil, fail("VM %d is running - destroy failed", g.vmid)
	}
	node := c.node()
	return c.fork(node, "qmdestroy", itoa(g.vmid), func(t *task) error { return c.destroy(t, node, g.vmid, purge) }), nil
}
