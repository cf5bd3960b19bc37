package simulator

// startCT and the other calls that switch containers refuse at once what those of machines refuse in their tasks.
// Source: pve-container src/PVE/API2/LXC/Status.pm.
func startCT(c *call) (any, error) {
	if err := skipsLock(c); err != nil {
		return nil, err
	}
	node, vmid := c.Node(), c.VMID()
	if g := ct(c); g != nil && g.State != Stopped {
		return nil, Fail("CT %d already running", vmid)
	}
	if err := c.State.NeedQuorum(); err != nil {
		return nil, err
	}
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastart", Itoa(vmid), func(t *task) error { return c.State.RequestHA(t, r, "started") }), nil
	}
	skip := c.Flag("skiplock", false)
	return c.Fork(node, "vzstart", Itoa(vmid), func(t *task) error { return PowerOn(c.State, t, node, vmid, skip) }), nil
}

func skipsLock(c *call) error {
	if c.Flag("skiplock", false) && !c.IsSuperuser() {
		return Invalid("skiplock", "Only root may use this option.")
	}
	return nil
}

// ct is the container of the path if it is on the node, else nil.
func ct(c *call) *guest {
	g, err := c.State.GuestOn(c.Node(), "lxc", c.VMID())
	if err != nil {
		return nil
	}
	return g
}

// runningCT is the container of calls that refuse one that is off, or not there.
func runningCT(c *call, kind string) (*guest, error) {
	g := ct(c)
	if g == nil || g.State == Stopped {
		return nil, Fail("%s %d not running", kind, c.VMID())
	}
	return g, nil
}

func stopCT(c *call) (any, error) {
	if err := skipsLock(c); err != nil {
		return nil, err
	}
	return offCT(c, "vzstop")
}

// shutdownCT always succeeds: the init of a container is told to end, and there is nobody in it who would not.
func shutdownCT(c *call) (any, error) { return offCT(c, "vzshutdown") }

func offCT(c *call, kind string) (any, error) {
	g, err := runningCT(c, "CT")
	if err != nil {
		return nil, err
	}
	if r := c.State.HARequest(g.VMID); r != nil {
		return c.Fork(g.Node, "hastop", Itoa(g.VMID), func(t *task) error { return c.State.RequestHA(t, r, "stopped") }), nil
	}
	return c.Fork(g.Node, kind, Itoa(g.VMID), func(t *task) error {
		if err := c.Unlocked(g); err != nil {
			return err
		}
		if err := t.Busy(); err != nil {
			return err
		}
		PowerOff(c.State, t, g)
		return nil
	}), nil
}

func rebootCT(c *call) (any, error) {
	g, err := runningCT(c, "VM") // sic
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "vzreboot", Itoa(g.VMID), func(t *task) error {
		PowerOff(c.State, t, g)
		return PowerOn(c.State, t, g.Node, g.VMID, true)
	}), nil
}

// destroyCT deletes a container; with force, also one that runs.
func destroyCT(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	purge, force := c.Flag("purge", false), c.Flag("force", false)
	switch {
	case g.Conf["protection"] == "1":
		return nil, Fail("can't remove CT %d - protection mode enabled", g.VMID)
	case g.Lock() != "":
		return nil, c.Unlocked(g)
	case !purge && c.State.HA.Resources[HAID(g)] != nil:
		return nil, Fail("unable to remove CT %d - used in HA resources and purge parameter not set.", g.VMID)
	case !purge && c.State.Replicates(g.VMID) != nil:
		return nil, c.State.Replicates(g.VMID)
	case g.State != Stopped && !force:
		return nil, Fail("unable to destroy CT %d - container is running", g.VMID)
	}
	node := c.Node()
	return c.Fork(node, "vzdestroy", Itoa(g.VMID), func(t *task) error {
		if g.State != Stopped {
			PowerOff(c.State, t, g)
		}
		return Destroy(c, t, node, g.VMID, purge)
	}), nil
}

func migrateCT(c *call) (any, error) {
	node, to := c.Node(), c.Text("target")
	if c.State.Nodes[to] == nil {
		return nil, Fail("no such cluster node '%s'", to)
	}
	if to == node {
		return nil, Invalid("target", "target is local node.")
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	restart := c.Flag("restart", false)
	if g.State != Stopped && !c.Flag("online", false) && !restart {
		return nil, Fail("can't migrate running container without --online or --restart")
	}
	if r := c.State.HARequest(g.VMID); r != nil {
		return c.Fork(node, "hamigrate", Itoa(g.VMID), func(t *task) error {
			c.State.HA.Commands = append(c.State.HA.Commands, HACommand{"relocate", r.SID, to})
			c.State.ManageSoon()
			return t.Busy()
		}), nil
	}
	wasOn := g.State != Stopped
	return c.Fork(node, "vzmigrate", Itoa(g.VMID), func(t *task) error {
		if wasOn && !restart {
			t.Say("ERROR: lxc live migration is currently not implemented")
			return Fail("migration aborted")
		}
		PowerOff(c.State, t, g)
		if err := Migrate(c.State, t, node, to, g.VMID, true); err != nil {
			return err
		}
		if !wasOn {
			return nil
		}
		return PowerOn(c.State, t, to, g.VMID, true)
	}), nil
}

// suspendCT freezes a container into files of its node, which keeps them until it is resumed.
func suspendCT(c *call) (any, error) {
	g, err := runningCT(c, "CT")
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "vzsuspend", Itoa(g.VMID), func(t *task) error {
		if err := c.Unlocked(g); err != nil {
			return err
		}
		if err := t.Busy(); err != nil {
			return err
		}
		PowerOff(c.State, t, g)
		return nil
	}), nil
}

func resumeCT(c *call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	if g := ct(c); g != nil && g.State != Stopped {
		return nil, Fail("CT %d already running", vmid)
	}
	return c.Fork(node, "vzresume", Itoa(vmid), func(t *task) error { return PowerOn(c.State, t, node, vmid, false) }), nil
}

// whereCT tells to which nodes a container may be migrated.
func whereCT(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	nodes := []string{}
	for _, name := range c.State.NodeNames() {
		if name != g.Node {
			nodes = append(nodes, name)
		}
	}
	return Row{"running": Bit(g.State != Stopped), "allowed-nodes": nodes, "not-allowed-nodes": Row{}}, nil
}
