package simulator

import (
	"maps"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// resize grows a disk. All checks of the disk are the task's.
func (c *call) resize() (any, error) {
	node, vmid := c.node(), c.vmid()
	return c.fork(node, "resize", itoa(vmid), func(t *task) error {
		g, err := c.s.guestOn(node, "qemu", vmid)
		if err != nil {
			return err
		}
		if d := c.text("digest"); d != "" && d != g.digest() {
			return fail("checksum mismatch (file change by other user?)")
		}
		if err := c.unlocked(g); err != nil {
			return err
		}
		if err := t.busy(); err != nil {
			return err
		}
		return c.grow(g, c.text("disk"), c.text("size"))
	}), nil
}

func (c *call) grow(g *guest, option, text string) error {
	value, there := g.conf[option]
	if !there {
		return fail("disk '%s' does not exist", option)
	}
	d, err := guestconf.ParseDrive(option, value)
	if err != nil {
		return err
	}
	if d.CDROM() {
		return fail("you can't resize a cdrom")
	}
	name, _ := splitVolume(d.File())
	if err := c.check("/storage/"+name, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	v := c.s.volume(g.node, d.File())
	if v == nil {
		return fail("volume '%s' does not exist", d.File())
	}
	size, ok := schema.ParseSize(strings.TrimPrefix(text, "+"))
	if !ok {
		return fail("invalid size string")
	}
	if strings.HasPrefix(text, "+") {
		size += v.size
	}
	switch {
	case size < v.size:
		return fail("shrinking disks is not supported")
	case size > v.size && !c.s.fits(c.s.storages[name], g.node, size-v.size):
		return fail("unable to resize: No space left on device")
	}
	v.size = size
	d.Set("size", schema.FormatSize(size))
	conf := maps.Clone(g.conf)
	conf[option] = d.String()
	g.conf = conf
	return nil
}
