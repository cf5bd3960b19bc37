package guest

import "kubehenge.dev/proxmox/simulator/core"

// Copy is what a call to clone asks for.
type Copy struct {
	Source  *core.Guest
	Conf    map[string]string // of the source, or of its snapshot
	VMID    int
	Target  string
	Storage *core.Storage
	Full    bool
}

// CloneTarget asks whether the copy can go onto the node and the storage that the call names.
func CloneTarget(c *core.Call, o *Copy) error {
	if o.Target == "" {
		o.Target = c.Node()
	}
	if c.State.Nodes[o.Target] == nil {
		return core.Fail("no such cluster node '%s'", o.Target)
	}
	name := c.Text("storage")
	if name == "" {
		return c.State.NeedQuorum()
	}
	st, err := c.State.StorageOn(c.Node(), name)
	if err != nil {
		return err
	}
	if o.Target != c.Node() {
		if _, err := c.State.StorageOn(o.Target, name); err != nil {
			return err
		}
		if !st.Shared {
			return core.Fail("can't clone to non-shared storage '%s'", name)
		}
	}
	if c.Kind() == "qemu" && !st.Holds("images") {
		return core.Invalid("storage", "storage '%s' does not support vm images", name)
	}
	o.Storage = st
	return c.State.NeedQuorum()
}

// NotCopied are options that belong to the source alone.
var NotCopied = []string{"template", "lock", "parent", "snaptime", "vmstate", "digest"}
