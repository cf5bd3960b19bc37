package simulator

// startCT and the other calls that switch containers refuse at once what those of machines refuse in their tasks.
// Source: pve-container src/PVE/API2/LXC/Status.pm.
func (c *call) startCT() (any, error) {
	if err := c.skipsLock(); err != nil {
		return nil, err
	}
	node, vmid := c.node(), c.vmid()
	if g := c.ct(); g != nil && g.state != stopped {
		return nil, fail("CT %d already running", vmid)
	}
	if err := c.s.needQuorum(); err != nil {
		return nil, err
	}
	if r := c.s.haRequest(vmid); r != nil {
		return c.fork(node, "hastart", itoa(vmid), func(t *task) error { return c.s.request(t, r, "started") }), nil
	}
	skip := c.flag("skiplock", false)
	return c.fork(node, "vzstart", itoa(vmid), func(t *task) error { return c.s.powerOn(t, node, vmid, skip) }), nil
}

func (c *call) skipsLock() error {
	if c.flag("skiplock", false) && !c.isSuperuser() {
		return invalid("skiplock", "Only root may use this option.")
	}
	return nil
}

// ct is the container of the path if it is on the node, else nil.
func (c *call) ct() *guest {
	g, err := c.s.guestOn(c.node(), "lxc", c.vmid())
	if err != nil {
		return nil
	}
	return g
}

// runningCT is the container of calls that refuse one that is off, or not there.
func (c *call) runningCT(kind string) (*guest, error) {
	g := c.ct()
	if g == nil || g.state == stopped {
		return nil, fail("%s %d not running", kind, c.vmid())
	}
	return g, nil
}

func (c *call) stopCT() (any, error) {
	if err := c.skipsLock(); err != nil {
		return nil, err
	}
	return c.offCT("vzstop")
}

// shutdownCT always succeeds: the init of a container is told to end, and there is nobody in it who would not.
func (c *call) shutdownCT() (any, error) { return c.offCT("vzshutdown") }

func (c *call) offCT(kind string) (any, error) {
	g, err := c.runningCT("CT")
	if err != nil {
		return nil, err
	}
	if r := c.s.haRequest(g.vmid); r != nil {
		return c.fork(g.node, "hastop", itoa(g.vmid), func(t *task) error { return c.s.request(t, r, "stopped") }), nil
	}
	return c.fork(g.node, kind, itoa(g.vmid), func(t *task) error {
		if err := c.unlocked(g); err != nil {
			return err
		}
		if err := t.busy(); err != nil {
			return err
		}
		c.s.powerOff(t, g)
		return nil
	}), nil
}

func (c *call) rebootCT() (any, error) {
	g, err := c.runningCT("VM") // sic
	if err != nil {
		return nil, err
	}
	return c.fork(g.node, "vzreboot", itoa(g.vmid), func(t *task) error {
		c.s.powerOff(t, g)
		return c.s.powerOn(t, g.node, g.vmid, true)
	}), nil
}

// destroyCT deletes a container; with force, also one that runs.
func (c *call) destroyCT() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	purge, force := c.flag("purge", false), c.flag("force", false)
	switch {
	case g.conf["protection"] == "1":
		return nil, fail("can't remove CT %d - protection mode enabled", g.vmid)
	case g.lock() != "":
		return nil, c.unlocked(g)
	case !purge && c.s.ha.resources[haID(g)] != nil:
		return nil, fail("unable to remove CT %d - used in HA resources and purge parameter not set.", g.vmid)
	case !purge && c.s.replicates(g.vmid) != nil:
		return nil, c.s.replicates(g.vmid)
	case g.state != stopped && !force:
		return nil, fail("unable to destroy CT %d - container is running", g.vmid)
	}
	node := c.node()
	return c.fork(node, "vzdestroy", itoa(g.vmid), func(t *task) error {
		if g.state != stopped {
			c.s.powerOff(t, g)
		}
		return c.destroy(t, node, g.vmid, purge)
	}), nil
}

func (c *call) migrateCT() (any, error) {
	node, to := c.node(), c.text("target")
	if c.s.nodes[to] == nil {
		return nil, fail("no such cluster node '%s'", to)
	}
	if to == node {
		return nil, invalid("target", "target is local node.")
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	restart := c.flag("restart", false)
	if g.state != stopped && !c.flag("online", false) && !restart {
		return nil, fail("can't migrate running container without --online or --restart")
	}
	if r := c.s.haRequest(g.vmid); r != nil {
		return c.fork(node, "hamigrate", itoa(g.vmid), func(t *task) error {
			c.s.ha.commands = append(c.s.ha.commands, haCommand{"relocate", r.sid, to})
			c.s.manageSoon()
			return t.busy()
		}), nil
	}
	wasOn := g.state != stopped
	return c.fork(node, "vzmigrate", itoa(g.vmid), func(t *task) error {
		if wasOn && !restart {
			t.say("ERROR: lxc live migration is currently not implemented")
			return fail("migration aborted")
		}
		c.s.powerOff(t, g)
		if err := c.s.migrate(t, node, to, g.vmid, true); err != nil {
			return err
		}
		if !wasOn {
			return nil
		}
		return c.s.powerOn(t, to, g.vmid, true)
	}), nil
}

// suspendCT freezes a container into files of its node, which keeps them until it is resumed.
func (c *call) suspendCT() (any, error) {
	g, err := c.runningCT("CT")
	if err != nil {
		return nil, err
	}
	return c.fork(g.node, "vzsuspend", itoa(g.vmid), func(t *task) error {
		if err := c.unlocked(g); err != nil {
			return err
		}
		if err := t.busy(); err != nil {
			return err
		}
		c.s.powerOff(t, g)
		return nil
	}), nil
}

func (c *call) resumeCT() (any, error) {
	node, vmid := c.node(), c.vmid()
	if g := c.ct(); g != nil && g.state != stopped {
		return nil, fail("CT %d already running", vmid)
	}
	return c.fork(node, "vzresume", itoa(vmid), func(t *task) error { return c.s.powerOn(t, node, vmid, false) }), nil
}

// whereCT tells to which nodes a container may be migrated.
func (c *call) whereCT() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	nodes := []string{}
	for _, name := range c.s.nodeNames() {
		if name != g.node {
			nodes = append(nodes, name)
		}
	}
	return row{"running": bit(g.state != stopped), "allowed-nodes": nodes, "not-allowed-nodes": row{}}, nil
}
