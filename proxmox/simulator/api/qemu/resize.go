package qemu

import (
	"maps"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// resize grows a disk. All checks of the disk are the task's.
func resize(c *core.Call) (any, error) {
	node, vmid := c.Node(), c.VMID()
	return c.Fork(node, "resize", core.Itoa(vmid), func(t *core.Task) error {
		g, err := c.State.GuestOn(node, "qemu", vmid)
		if err != nil {
			return err
		}
		if d := c.Text("digest"); d != "" && d != g.Digest() {
			return core.Fail("checksum mismatch (file change by other user?)")
		}
		if err := c.Unlocked(g); err != nil {
			return err
		}
		if err := t.Busy(); err != nil {
			return err
		}
		return grow(c, g, c.Text("disk"), c.Text("size"))
	}), nil
}

func grow(c *core.Call, g *core.Guest, option, text string) error {
	value, there := g.Conf[option]
	if !there {
		return core.Fail("disk '%s' does not exist", option)
	}
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return err
	}
	if d.CDROM() {
		return core.Fail("you can't resize a cdrom")
	}
	name, _ := core.SplitVolume(d.File())
	if err := c.Check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	v := c.State.Volume(g.Node, d.File())
	if v == nil {
		return core.Fail("volume '%s' does not exist", d.File())
	}
	size, ok := schema.ParseSize(strings.TrimPrefix(text, "+"))
	if !ok {
		return core.Fail("invalid size string")
	}
	if strings.HasPrefix(text, "+") {
		size += v.Size
	}
	switch {
	case size < v.Size:
		return core.Fail("shrinking disks is not supported")
	case size > v.Size && !c.State.Fits(c.State.Storages[name], g.Node, size-v.Size):
		return core.Fail("unable to resize: No space left on device")
	}
	v.Size = size
	d.Set("size", schema.FormatSize(size))
	conf := maps.Clone(g.Conf)
	conf[option] = d.String()
	g.Conf = conf
	return nil
}
