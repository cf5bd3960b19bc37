package qemu

import (
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
)

// destroyVM deletes a virtual machine with the images that belong to it.
func destroyVM(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	purge := c.Flag("purge", false)
	switch {
	case c.Flag("skiplock", false) && !c.IsSuperuser():
		return nil, core.Invalid("skiplock", "Only root may use this option.")
	case g.Conf["protection"] == "1":
		return nil, core.Fail("can't remove VM %d - protection mode enabled", g.VMID)
	case !purge && c.State.HA.Resources[core.HAID(g)] != nil:
		return nil, core.Fail("unable to remove VM %d - used in HA resources and purge parameter not set.", g.VMID)
	case !purge && c.State.Replicates(g.VMID) != nil:
		return nil, c.State.Replicates(g.VMID)
	case g.State != core.Stopped:
		return nil, core.Fail("VM %d is running - destroy failed", g.VMID)
	}
	node := c.Node()
	return c.Fork(node, "qmdestroy", core.Itoa(g.VMID), func(t *core.Task) error { return guest.Destroy(c, t, node, g.VMID, purge) }), nil
}
