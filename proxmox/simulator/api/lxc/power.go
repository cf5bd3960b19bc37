package lxc

import (
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
)

// startCT and the other calls that switch containers refuse at once what those of machines refuse in their tasks.
// Source: pve-container src/PVE/API2/LXC/Status.pm.
func startCT(c *core.Call) (any, error) {
	if err := skipsLock(c); err != nil {
		return nil, err
	}
	node, vmid := c.Node(), c.VMID()
	if g := ct(c); g != nil && g.State != core.Stopped {
		return nil, core.Fail("CT %d already running", vmid)
	}
	if err := c.State.NeedQuorum(); err != nil {
		return nil, err
	}
	if r := c.State.HARequest(vmid); r != nil {
		return c.Fork(node, "hastart", core.Itoa(vmid), func(t *core.Task) error { return c.State.RequestHA(t, r, "started") }), nil
	}
	skip := c.Flag("skiplock", false)
	return c.Fork(node, "vzstart", core.Itoa(vmid), func(t *core.Task) error { return guest.PowerOn(c.State, t, node, vmid, skip) }), nil
}

func skipsLock(c *core.Call) error {
	if c.Flag("skiplock", false) && !c.IsSuperuser() {
		return core.Invalid("skiplock", "Only root may use this option.")
	}
	return nil
}

// ct is the container of the path if it is on the node, else nil.
func ct(c *core.Call) *core.Guest {
	g, err := c.State.GuestOn(c.Node(), "lxc", c.VMID())
	if err != nil {
		return nil
	}
	return g
}

// runningCT is the container of calls that refuse one that is off, or not there.
func runningCT(c *core.Call, kind string) (*core.Guest, error) {
	g := ct(c)
	if g == nil || g.State == core.Stopped {
		return nil, core.Fail("%s %d not running", kind, c.VMID())
	}
	return g, nil
}

func stopCT(c *core.Call) (any, error) {
	if err := skipsLock(c); err != nil {
		return nil, err
	}
	return offCT(c, "vzstop")
}

// shutdownCT always succeeds: the init of a container is told to end, and there is nobody in it who would not.
func shutdownCT(c *core.Call) (any, error) { return offCT(c, "vzshutdown") }

func offCT(c *core.Call, kind string) (any, error) {
	g, err := runningCT(c, "CT")
	if err != nil {
		return nil, err
	}
	if r := c.State.HARequest(g.VMID); r != nil {
		return c.Fork(g.Node, "hastop", core.Itoa(g.VMID), func(t *core.Task) error { return c.State.RequestHA(t, r, "stopped") }), nil
	}
	return c.Fork(g.Node, kind, core.Itoa(g.VMID), func(t *core.Task) error {
		if err := c.Unlocked(g); err != nil {
			return err
		}
		if err := t.Busy(); err != nil {
			return err
		}
		guest.PowerOff(c.State, t, g)
		return nil
	}), nil
}

func rebootCT(c *core.Call) (any, error) {
	g, err := runningCT(c, "VM") // sic
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "vzreboot", core.Itoa(g.VMID), func(t *core.Task) error {
		guest.PowerOff(c.State, t, g)
		return guest.PowerOn(c.State, t, g.Node, g.VMID, true)
	}), nil
}

// destroyCT deletes a container; with force, also one that runs.
func destroyCT(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	purge, force := c.Flag("purge", false), c.Flag("force", false)
	switch {
	case g.Conf["protection"] == "1":
		return nil, core.Fail("can't remove CT %d - protection mode enabled", g.VMID)
	case g.Lock() != "":
		return nil, c.Unlocked(g)
	case !purge && c.State.HA.Resources[core.HAID(g)] != nil:
		return nil, core.Fail("unable to remove CT %d - used in HA resources and purge parameter not set.", g.VMID)
	case !purge && c.State.Replicates(g.VMID) != nil:
		return nil, c.State.Replicates(g.VMID)
	case g.State != core.Stopped && !force:
		return nil, core.Fail("unable to destroy CT %d - container is running", g.VMID)
	}
	node := c.Node()
	return c.Fork(node, "vzdestroy", core.Itoa(g.VMID), func(t *core.Task) error {
		if g.State != core.Stopped {
			guest.PowerOff(c.State, t, g)
		}
		return guest.Destroy(c, t, node, g.VMID, purge)
	}), nil
}

func migrateCT(c *core.Call) (any, error) {
	node, to := c.Node(), c.Text("target")
	if c.State.Nodes[to] == nil {
		return nil, core.Fail("no such cluster node '%s'", to)
	}
	if to == node {
		return nil, core.Invalid("target", "target is local node.")
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	restart := c.Flag("restart", false)
	if g.State != core.Stopped && !c.Flag("online", false) && !restart {
		return nil, core.Fail("can't migrate running container without --online or --restart")
	}
	if r := c.State.HARequest(g.VMID); r != nil {
		return c.Fork(node, "hamigrate", core.Itoa(g.VMID), func(t *core.Task) error {
			c.State.HA.Commands = append(c.State.HA.Commands, core.HACommand{Kind: "relocate", SID: r.SID, Node: to})
			c.State.ManageSoon()
			return t.Busy()
		}), nil
	}
	wasOn := g.State != core.Stopped
	return c.Fork(node, "vzmigrate", core.Itoa(g.VMID), func(t *core.Task) error {
		if wasOn && !restart {
			t.Say("ERROR: lxc live migration is currently not implemented")
			return core.Fail("migration aborted")
		}
		guest.PowerOff(c.State, t, g)
		if err := guest.Migrate(c.State, t, node, to, g.VMID, true); err != nil {
			return err
		}
		if !wasOn {
			return nil
		}
		return guest.PowerOn(c.State, t, to, g.VMID, true)
	}), nil
}

// suspendCT freezes a container into files of its node, which keeps them until it is resumed.
func suspendCT(c *core.Call) (any, error) {
	g, err := runningCT(c, "CT")
	if err != nil {
		return nil, err
	}
	return c.Fork(g.Node, "vzsuspend", core.Itoa(g.VMID), func(t *core.Task) error {
		if err := c.Unlocked(g); err != nil {
			return err
		}
		if err := t.Busy(); err != nil {
			return err
		}
		guest.PowerOff(c.State, t, g)
		return nil
	}), nil
}

func resumeCT(c *core.Call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	if g := ct(c); g != nil && g.State != core.Stopped {
		return nil, core.Fail("CT %d already running", vmid)
	}
	return c.Fork(node, "vzresume", core.Itoa(vmid), func(t *core.Task) error { return guest.PowerOn(c.State, t, node, vmid, false) }), nil
}

// whereCT tells to which nodes a container may be migrated.
func whereCT(c *core.Call) (any, error) {
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
	return core.Row{"running": core.Bit(g.State != core.Stopped), "allowed-nodes": nodes, "not-allowed-nodes": core.Row{}}, nil
}
