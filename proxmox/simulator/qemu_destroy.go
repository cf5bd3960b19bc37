package simulator

// destroyVM deletes a virtual machine with the images that belong to it.
func destroyVM(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	purge := c.Flag("purge", false)
	switch {
	case c.Flag("skiplock", false) && !c.IsSuperuser():
		return nil, Invalid("skiplock", "Only root may use this option.")
	case g.Conf["protection"] == "1":
		return nil, Fail("can't remove VM %d - protection mode enabled", g.VMID)
	case !purge && c.State.HA.Resources[HAID(g)] != nil:
		return nil, Fail("unable to remove VM %d - used in HA resources and purge parameter not set.", g.VMID)
	case !purge && c.State.Replicates(g.VMID) != nil:
		return nil, c.State.Replicates(g.VMID)
	case g.State != Stopped:
		return nil, Fail("VM %d is running - destroy failed", g.VMID)
	}
	node := c.Node()
	return c.Fork(node, "qmdestroy", Itoa(g.VMID), func(t *task) error { return Destroy(c, t, node, g.VMID, purge) }), nil
}
