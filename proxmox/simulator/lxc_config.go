package simulator

import (
	"maps"
	"slices"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// checkCT asks for the privileges to set and delete options of a container. Features other than nesting, devices and hook
// scripts are root@pam's. Source: pve-container src/PVE/LXC.pm check_ct_modify_config_perm.
func (c *call) checkCT(w *change, g *guest, unprivileged bool) error {
	if c.isSuperuser() {
		return nil
	}
	for _, name := range append(sortedKeys(w.set), w.remove...) {
		value, sets := w.set[name]
		if err := c.checkCTOption(w.target, g, name, value, sets, unprivileged); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) checkCTOption(t target, g *guest, name, value string, sets, unprivileged bool) error {
	o, known := guestconf.CTOptions()[name]
	switch {
	case !known:
		return nil // the parameter is refused for that
	case name == "features":
		return c.checkFeatures(t, g, value, unprivileged)
	case o.Privilege == guestconf.RootOnly && name == "hookscript":
		return &apiError{status: 403, message: "Permission check failed (changing the hookscript is only allowed for root@pam)"}
	case o.Privilege == guestconf.RootOnly:
		return &apiError{status: 403, message: "Permission check failed (configuring device passthrough is only allowed for root@pam)"}
	case name == "tags":
		old := []string{}
		if g != nil {
			old = guestconf.TagList(g.conf["tags"])
		}
		return c.checkTags(t, old, guestconf.TagList(value))
	}
	if err := c.checkVM(t, o.Privilege); err != nil {
		return err
	}
	switch {
	case guestconf.NetName.MatchString(name) && sets:
		return c.checkBridgeOf(schema.Format("lxc-net"), value)
	case guestconf.MountName.MatchString(name) && sets:
		return c.checkMount(t, name, value)
	}
	return nil
}

func (c *call) checkMount(t target, name, value string) error {
	volume := guestconf.MountVolume(value)
	if m := newDisk.FindStringSubmatch(volume); m != nil {
		return c.check("/storage/"+m[1], "Datastore.AllocateSpace")
	}
	if plainSize.MatchString(volume) {
		return nil // on the default storage, which is asked for later
	}
	if volume == "" || volume[0] == '/' {
		return &apiError{status: 403, message: "Permission check failed (mount point type bind is only allowed for root@pam)"}
	}
	return c.checkVolume(t, volume)
}

// checkFeatures lets those who may make containers switch nesting; all else is root@pam's.
func (c *call) checkFeatures(t target, g *guest, value string, unprivileged bool) error {
	if !unprivileged {
		return &apiError{status: 403, message: "Permission check failed (changing feature flags for privileged container is only allowed for root@pam)"}
	}
	old, now := map[string]string{}, map[string]string{}
	format := schema.Format("lxc-features")
	if g != nil {
		if p, err := format.ParseProperties("features", g.conf["features"]); err == nil {
			old = p.Values
		}
	}
	if p, err := format.ParseProperties("features", value); err == nil {
		now = p.Values
	}
	for _, flag := range append(sortedKeys(old), sortedKeys(now)...) {
		if flag != "nesting" && old[flag] != now[flag] {
			return &apiError{status: 403, message: "Permission check failed (changing feature flags (except nesting) is only allowed for root@pam)"}
		}
	}
	return c.checkVM(t, "VM.Allocate")
}

// putCTConfig changes a container's options: at once where that is possible while it runs, else at its next start.
func (c *call) putCTConfig() (any, error) {
	w := &change{target: target{vmid: c.vmid()}, set: map[string]string{}, remove: c.list("delete"), revert: c.list("revert")}
	for name := range c.params {
		w.set[name] = c.text(name)
	}
	for _, name := range []string{"node", "vmid", "delete", "revert", "digest"} {
		delete(w.set, name)
	}
	if len(w.set)+len(w.remove)+len(w.revert) == 0 {
		return nil, fail("no options specified")
	}
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.mayChangeCT(g, w); err != nil {
		return nil, err
	}
	return nil, c.changeCT(g, w)
}

func (c *call) mayChangeCT(g *guest, w *change) error {
	if err := c.unlocked(g); err != nil {
		return err
	}
	if d := c.text("digest"); d != "" && d != g.digest() {
		return fail("detected modified configuration - file changed by other user? Try again.")
	}
	for _, list := range []struct {
		param string
		names []string
	}{{"revert", w.revert}, {"delete", w.remove}} {
		for _, name := range list.names {
			if _, known := guestconf.CTOptions()[name]; !known {
				return invalid(list.param, "unknown option '%s'", name)
			}
			if _, both := w.set[name]; both {
				return invalid(list.param, "you can't use '-%s' and -%s %s' at the same time", name, list.param, name)
			}
		}
	}
	if _, fixed := w.set["unprivileged"]; fixed {
		return fail("unable to modify read-only option: 'unprivileged'")
	}
	for _, name := range []string{"rootfs", "unprivileged"} {
		if slices.Contains(w.remove, name) {
			return fail("unable to delete required option '%s'", name)
		}
	}
	if err := c.checkCT(w, g, g.conf["unprivileged"] == "1"); err != nil {
		return err
	}
	return c.writable(g)
}

// changeCT works on copies, so that all is done or nothing.
func (c *call) changeCT(g *guest, w *change) error {
	conf, pending, removed := maps.Clone(g.conf), copyMap(g.pending), copyMap(g.removed)
	for _, name := range w.revert {
		delete(pending, name)
		delete(removed, name)
	}
	isOn := g.state != stopped
	for _, name := range w.remove {
		delete(pending, name)
		if isOn && !guestconf.CTOptions()[name].Live {
			removed[name] = false
			continue
		}
		c.s.dropCT(g, conf, name)
	}
	for _, name := range sortedKeys(w.set) {
		value, err := c.ctValue(name, w.set[name])
		if guestconf.MountName.MatchString(name) && err == nil {
			value, _, err = c.s.makeMount(g.node, g.vmid, name, value)
		}
		if err != nil {
			return err
		}
		delete(removed, name)
		if isOn && !guestconf.CTOptions()[name].Live {
			pending[name] = value
			continue
		}
		conf[name] = value
	}
	g.conf, g.pending, g.removed = conf, pending, removed
	return nil
}

// dropCT deletes an option of a container. A volume of its own stays as an unused one; an unused one is removed.
func (s *state) dropCT(g *guest, conf map[string]string, name string) {
	volume := guestconf.MountVolume(conf[name])
	owned := volume != "" && s.ownedBy(volume, g.vmid)
	delete(conf, name)
	switch {
	case guestconf.MountName.MatchString(name) && owned:
		conf[freeUnused(conf)] = volume
	case guestconf.UnusedName.MatchString(name) && owned:
		s.remove(g.node, volume)
	}
}

// containers are switched on and off so.
var containers = kind{settle: (*state).settleCT, startable: (*state).startableCT}

// settleCT applies what waited for a container to be off.
func (s *state) settleCT(g *guest) error {
	for name := range g.removed {
		s.dropCT(g, g.conf, name)
	}
	maps.Copy(g.conf, g.pending)
	g.pending, g.removed = nil, nil
	return nil
}

// resizeCT grows a volume of a container.
func (c *call) resizeCT() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if d := c.text("digest"); d != "" && d != g.digest() {
		return nil, fail("checksum mismatch (file change by other user?)")
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	name := c.text("disk")
	return c.fork(g.node, "resize", itoa(g.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		return c.growCT(g, name)
	}), nil
}

func (c *call) growCT(g *guest, name string) error {
	v := c.s.volume(g.node, guestconf.MountVolume(g.conf[name]))
	if v == nil {
		return fail("no '%s' configured", name)
	}
	if err := c.check("/storage/"+v.storage, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	size, ok := grown(c.text("size"), v.size)
	switch {
	case !ok:
		return fail("invalid size string")
	case size < v.size:
		return fail("unable to shrink disk size")
	case size == v.size:
		return nil
	case !c.s.fits(c.s.storages[v.storage], g.node, size-v.size):
		return fail("unable to resize: No space left on device")
	}
	stored, _, err := c.s.resized(g, name, v, size)
	if err != nil {
		return err
	}
	g.conf[name] = stored
	return nil
}

// resized sets a volume's size and returns the mount point that tells it.
func (s *state) resized(g *guest, name string, v *volume, size int64) (string, *volume, error) {
	v.size = size
	return s.makeMount(g.node, g.vmid, name, g.conf[name])
}

// grown is the size that a text such as +2G asks for.
func grown(text string, now int64) (int64, bool) {
	plus := text != "" && text[0] == '+'
	if plus {
		text = text[1:]
	}
	size, ok := schema.ParseSize(text)
	if plus {
		size += now
	}
	return size, ok
}
