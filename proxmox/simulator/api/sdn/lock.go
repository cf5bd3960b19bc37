package sdn

import "kubehenge.dev/proxmox/simulator/core"

// locked runs a change of the SDN's configuration, which somebody else may have reserved.
func lockedSDN(c *core.Call, doing string, change func() error) error {
	return c.Locked("domain-sdn", doing, func() error {
		if c.State.SDN.Lock != "" && c.State.SDN.Lock != c.Text("lock-token") {
			return core.Fail("invalid lock token provided!")
		}
		return change()
	})
}

func lockSDN(c *core.Call) (any, error) {
	err := lockedSDN(c, "could not acquire lock for SDN config", func() error {
		if !c.Flag("allow-pending", false) && c.State.SDN.HasPending() {
			return core.Fail("configuration has pending changes")
		}
		c.State.SDN.Lock = core.NewUUID()
		return nil
	})
	return c.State.SDN.Lock, err
}

func unlockSDN(c *core.Call) (any, error) {
	release := func() error { c.State.SDN.Lock = ""; return nil }
	if c.Flag("force", false) {
		return nil, release()
	}
	return nil, lockedSDN(c, "could not release lock", release)
}

// release gives the lock back after a change that asks for it.
func releaseSDN(c *core.Call) {
	if c.Has("lock-token") && c.Flag("release-lock", true) {
		c.State.SDN.Lock = ""
	}
}

func rollbackSDN(c *core.Call) (any, error) {
	return nil, lockedSDN(c, "could not rollback SDN configuration", func() error {
		c.State.SDN.Rollback()
		releaseSDN(c)
		return nil
	})
}

// applySDN lets run what is wanted; each node then loads its network anew.
func applySDN(c *core.Call) (any, error) {
	err := lockedSDN(c, "could not commit SDN config", func() error {
		c.State.SDN.Apply()
		releaseSDN(c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.Fork(c.State.Local, "reloadnetworkall", "", func(t *core.Task) error {
		for _, name := range c.State.NodeNames() {
			if c.State.Nodes[name].Online {
				t.Say("%s: reloading network config", name)
			}
		}
		return t.Busy()
	}), nil
}
