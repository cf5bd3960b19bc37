package simulator

// copyOf is what a call to clone asks for.
type copyOf struct {
	source  *guest
	conf    map[string]string // of the source, or of its snapshot
	newid   int
	target  string
	storage *storage
	full    bool
}

func (c *call) cloneTarget(o *copyOf) error {
	if o.target == "" {
		o.target = c.node()
	}
	if c.s.nodes[o.target] == nil {
		return fail("no such cluster node '%s'", o.target)
	}
	name := c.text("storage")
	if name == "" {
		return c.s.needQuorum()
	}
	st, err := c.s.storageOn(c.node(), name)
	if err != nil {
		return err
	}
	if o.target != c.node() {
		if _, err := c.s.storageOn(o.target, name); err != nil {
			return err
		}
		if !st.shared {
			return fail("can't clone to non-shared storage '%s'", name)
		}
	}
	if c.kind() == "qemu" && !st.holds("images") {
		return invalid("storage", "storage '%s' does not support vm images", name)
	}
	o.storage = st
	return c.s.needQuorum()
}

// notCopied are options that belong to the source alone.
var notCopied = []string{"template", "lock", "parent", "snaptime", "vmstate", "digest"}
