package simulator

// locked runs what changes a file of the cluster. Without quorum, or with a fault that lets locks time out, it does not get
// that far. Whatever goes wrong inside is told with what was being done before it, and loses its status: Proxmox VE
// prefixes its text.
func (c *call) locked(file, doing string, change func() error) error {
	switch {
	case c.fault != nil && c.fault.LockTimeout:
		return fail("%s: cfs-lock '%s' error: got lock request timeout", doing, file)
	case !c.s.quorate():
		return fail("%s: cfs-lock '%s' error: no quorum!", doing, file)
	}
	return prefixed(doing, change())
}

// writable refuses to change a guest's configuration file without quorum.
func (c *call) writable(g *guest) error {
	if c.s.quorate() {
		return nil
	}
	c.s.pids++
	return fail("unable to open file '/etc/pve/nodes/%s/%s/%d.conf.tmp.%d' - Permission denied", g.node, configFolder(g.kind), g.vmid, c.s.pids)
}
