package simulator

// locked runs a change of the SDN's configuration, which somebody else may have reserved.
func (c *call) lockedSDN(doing string, change func() error) error {
	return c.locked("domain-sdn", doing, func() error {
		if c.s.sdn.Lock != "" && c.s.sdn.Lock != c.text("lock-token") {
			return fail("invalid lock token provided!")
		}
		return change()
	})
}

func (c *call) lockSDN() (any, error) {
	err := c.lockedSDN("could not acquire lock for SDN config", func() error {
		if !c.flag("allow-pending", false) && c.s.sdn.HasPending() {
			return fail("configuration has pending changes")
		}
		c.s.sdn.Lock = newUUID()
		return nil
	})
	return c.s.sdn.Lock, err
}

func (c *call) unlockSDN() (any, error) {
	release := func() error { c.s.sdn.Lock = ""; return nil }
	if c.flag("force", false) {
		return nil, release()
	}
	return nil, c.lockedSDN("could not release lock", release)
}

// release gives the lock back after a change that asks for it.
func (c *call) releaseSDN() {
	if c.has("lock-token") && c.flag("release-lock", true) {
		c.s.sdn.Lock = ""
	}
}

func (c *call) rollbackSDN() (any, error) {
	return nil, c.lockedSDN("could not rollback SDN configuration", func() error {
		c.s.sdn.Rollback()
		c.releaseSDN()
		return nil
	})
}

// applySDN lets run what is wanted; each node then loads its network anew.
func (c *call) applySDN() (any, error) {
	err := c.lockedSDN("could not commit SDN config", func() error {
		c.s.sdn.Apply()
		c.releaseSDN()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.fork(c.s.local, "reloadnetworkall", "", func(t *task) error {
		for _, name := range c.s.nodeNames() {
			if c.s.nodes[name].online {
				t.say("%s: reloading network config", name)
			}
		}
		return t.busy()
	}), nil
}
