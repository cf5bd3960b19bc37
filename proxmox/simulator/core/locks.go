package core

// Locked runs what changes a file of the cluster. Without quorum, or with a fault that lets locks time out, it does not get
// that far. Whatever goes wrong inside is told with what was being done before it, and loses its status: Proxmox VE
// prefixes its text.
func (c *Call) Locked(file, doing string, change func() error) error {
	switch {
	case c.Fault != nil && c.Fault.LockTimeout:
		return Fail("%s: cfs-lock '%s' error: got lock request timeout", doing, file)
	case !c.State.Quorate():
		return Fail("%s: cfs-lock '%s' error: no quorum!", doing, file)
	}
	return prefixed(doing, change())
}

// Writable refuses to change a guest's configuration file without quorum.
func (c *Call) Writable(g *Guest) error {
	if c.State.Quorate() {
		return nil
	}
	c.State.PIDs++
	return Fail("unable to open file '/etc/pve/nodes/%s/%s/%d.conf.tmp.%d' - Permission denied", g.Node, configFolder(g.Kind), g.VMID, c.State.PIDs)
}
