package simulator

import (
	"maps"
	"slices"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// checkCT asks for the privileges to set and delete options of a container. Features other than nesting, devices and hook
// scripts are root@pam's. Source: pve-container src/PVE/LXC.pm check_ct_modify_config_perm.
func checkCT(c *call, w *Change, g *guest, unprivileged bool) error {
	if c.IsSuperuser() {
		return nil
	}
	for _, name := range append(SortedKeys(w.Set), w.Remove...) {
		value, sets := w.Set[name]
		if err := checkCTOption(c, w.Target, g, name, value, sets, unprivileged); err != nil {
			return err
		}
	}
	return nil
}

func checkCTOption(c *call, t Target, g *guest, name, value string, sets, unprivileged bool) error {
	o, known := guestconf.CTOptions()[name]
	switch {
	case !known:
		return nil // the parameter is refused for that
	case name == "features":
		return checkFeatures(c, t, g, value, unprivileged)
	case o.Privilege == guestconf.RootOnly && name == "hookscript":
		return &APIError{Status: 403, Message: "Permission check failed (changing the hookscript is only allowed for root@pam)"}
	case o.Privilege == guestconf.RootOnly:
		return &APIError{Status: 403, Message: "Permission check failed (configuring device passthrough is only allowed for root@pam)"}
	case name == "tags":
		old := []string{}
		if g != nil {
			old = guestconf.TagList(g.Conf["tags"])
		}
		return CheckTags(c, t, old, guestconf.TagList(value))
	}
	if err := CheckVM(c, t, o.Privilege); err != nil {
		return err
	}
	switch {
	case guestconf.NetName.MatchString(name) && sets:
		return CheckBridgeOf(c, schema.Format("lxc-net"), value)
	case guestconf.MountName.MatchString(name) && sets:
		return checkMount(c, t, name, value)
	}
	return nil
}

func checkMount(c *call, t Target, name, value string) error {
	volume := guestconf.MountVolume(value)
	if m := NewDisk.FindStringSubmatch(volume); m != nil {
		return c.Check("/storage/"+m[1], "Datastore.AllocateSpace")
	}
	if plainSize.MatchString(volume) {
		return nil // on the default storage, which is asked for later
	}
	if volume == "" || volume[0] == '/' {
		return &APIError{Status: 403, Message: "Permission check failed (mount point type bind is only allowed for root@pam)"}
	}
	return CheckVolume(c, t, volume)
}

// checkFeatures lets those who may make containers switch nesting; all else is root@pam's.
func checkFeatures(c *call, t Target, g *guest, value string, unprivileged bool) error {
	if !unprivileged {
		return &APIError{Status: 403, Message: "Permission check failed (changing feature flags for privileged container is only allowed for root@pam)"}
	}
	old, now := map[string]string{}, map[string]string{}
	format := schema.Format("lxc-features")
	if g != nil {
		if p, err := format.ParseProperties("features", g.Conf["features"]); err == nil {
			old = p.Values
		}
	}
	if p, err := format.ParseProperties("features", value); err == nil {
		now = p.Values
	}
	for _, flag := range append(SortedKeys(old), SortedKeys(now)...) {
		if flag != "nesting" && old[flag] != now[flag] {
			return &APIError{Status: 403, Message: "Permission check failed (changing feature flags (except nesting) is only allowed for root@pam)"}
		}
	}
	return CheckVM(c, t, "VM.Allocate")
}

// putCTConfig changes a container's options: at once where that is possible while it runs, else at its next start.
func putCTConfig(c *call) (any, error) {
	w := &Change{Target: Target{VMID: c.VMID()}, Set: map[string]string{}, Remove: c.List("delete"), Revert: c.List("revert")}
	for name := range c.Params {
		w.Set[name] = c.Text(name)
	}
	for _, name := range []string{"node", "vmid", "delete", "revert", "digest"} {
		delete(w.Set, name)
	}
	if len(w.Set)+len(w.Remove)+len(w.Revert) == 0 {
		return nil, Fail("no options specified")
	}
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := mayChangeCT(c, g, w); err != nil {
		return nil, err
	}
	return nil, changeCT(c, g, w)
}

func mayChangeCT(c *call, g *guest, w *Change) error {
	if err := c.Unlocked(g); err != nil {
		return err
	}
	if d := c.Text("digest"); d != "" && d != g.Digest() {
		return Fail("detected modified configuration - file changed by other user? Try again.")
	}
	for _, list := range []struct {
		param string
		names []string
	}{{"revert", w.Revert}, {"delete", w.Remove}} {
		for _, name := range list.names {
			if _, known := guestconf.CTOptions()[name]; !known {
				return Invalid(list.param, "unknown option '%s'", name)
			}
			if _, both := w.Set[name]; both {
				return Invalid(list.param, "you can't use '-%s' and -%s %s' at the same time", name, list.param, name)
			}
		}
	}
	if _, fixed := w.Set["unprivileged"]; fixed {
		return Fail("unable to modify read-only option: 'unprivileged'")
	}
	for _, name := range []string{"rootfs", "unprivileged"} {
		if slices.Contains(w.Remove, name) {
			return Fail("unable to delete required option '%s'", name)
		}
	}
	if err := checkCT(c, w, g, g.Conf["unprivileged"] == "1"); err != nil {
		return err
	}
	return c.Writable(g)
}

// changeCT works on copies, so that all is done or nothing.
func changeCT(c *call, g *guest, w *Change) error {
	conf, pending, removed := maps.Clone(g.Conf), CopyMap(g.Pending), CopyMap(g.Removed)
	for _, name := range w.Revert {
		delete(pending, name)
		delete(removed, name)
	}
	isOn := g.State != Stopped
	for _, name := range w.Remove {
		delete(pending, name)
		if isOn && !guestconf.CTOptions()[name].Live {
			removed[name] = false
			continue
		}
		dropCT(c.State, g, conf, name)
	}
	for _, name := range SortedKeys(w.Set) {
		value, err := ctValue(c, name, w.Set[name])
		if guestconf.MountName.MatchString(name) && err == nil {
			value, _, err = makeMount(c.State, g.Node, g.VMID, name, value)
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
	g.Conf, g.Pending, g.Removed = conf, pending, removed
	return nil
}

// dropCT deletes an option of a container. A volume of its own stays as an unused one; an unused one is removed.
func dropCT(s *State, g *guest, conf map[string]string, name string) {
	volume := guestconf.MountVolume(conf[name])
	owned := volume != "" && s.OwnedBy(volume, g.VMID)
	delete(conf, name)
	switch {
	case guestconf.MountName.MatchString(name) && owned:
		conf[FreeUnused(conf)] = volume
	case guestconf.UnusedName.MatchString(name) && owned:
		s.RemoveVolume(g.Node, volume)
	}
}

// containers are switched on and off so.
var containers = Kind{Settle: settleCT, Startable: startableCT}

// settleCT applies what waited for a container to be off.
func settleCT(s *State, g *guest) error {
	for name := range g.Removed {
		dropCT(s, g, g.Conf, name)
	}
	maps.Copy(g.Conf, g.Pending)
	g.Pending, g.Removed = nil, nil
	return nil
}

// resizeCT grows a volume of a container.
func resizeCT(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if d := c.Text("digest"); d != "" && d != g.Digest() {
		return nil, Fail("checksum mismatch (file change by other user?)")
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	name := c.Text("disk")
	return c.Fork(g.Node, "resize", Itoa(g.VMID), func(t *task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		return growCT(c, g, name)
	}), nil
}

func growCT(c *call, g *guest, name string) error {
	v := c.State.Volume(g.Node, guestconf.MountVolume(g.Conf[name]))
	if v == nil {
		return Fail("no '%s' configured", name)
	}
	if err := c.Check("/storage/"+v.Storage, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	size, ok := grown(c.Text("size"), v.Size)
	switch {
	case !ok:
		return Fail("invalid size string")
	case size < v.Size:
		return Fail("unable to shrink disk size")
	case size == v.Size:
		return nil
	case !c.State.Fits(c.State.Storages[v.Storage], g.Node, size-v.Size):
		return Fail("unable to resize: No space left on device")
	}
	stored, _, err := resized(c.State, g, name, v, size)
	if err != nil {
		return err
	}
	g.Conf[name] = stored
	return nil
}

// resized sets a volume's size and returns the mount point that tells it.
func resized(s *State, g *guest, name string, v *volume, size int64) (string, *volume, error) {
	v.Size = size
	return makeMount(s, g.Node, g.VMID, name, g.Conf[name])
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
