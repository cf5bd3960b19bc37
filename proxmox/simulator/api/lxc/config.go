package lxc

import (
	"maps"
	"slices"

	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// checkCT asks for the privileges to set and delete options of a container. Features other than nesting, devices and hook
// scripts are root@pam's. Source: pve-container src/PVE/LXC.pm check_ct_modify_config_perm.
func checkCT(c *core.Call, w *guest.Change, g *core.Guest, unprivileged bool) error {
	if c.IsSuperuser() {
		return nil
	}
	for _, name := range append(core.SortedKeys(w.Set), w.Remove...) {
		value, sets := w.Set[name]
		if err := checkCTOption(c, w.Target, g, name, value, sets, unprivileged); err != nil {
			return err
		}
	}
	return nil
}

func checkCTOption(c *core.Call, t guest.Target, g *core.Guest, name, value string, sets, unprivileged bool) error {
	o, known := guestconf.CTOptions()[name]
	switch {
	case !known:
		return nil // the parameter is refused for that
	case name == "features":
		return checkFeatures(c, t, g, value, unprivileged)
	case o.Privilege == guestconf.RootOnly && name == "hookscript":
		return &core.APIError{Status: 403, Message: "Permission check failed (changing the hookscript is only allowed for root@pam)"}
	case o.Privilege == guestconf.RootOnly:
		return &core.APIError{Status: 403, Message: "Permission check failed (configuring device passthrough is only allowed for root@pam)"}
	case name == "tags":
		old := []string{}
		if g != nil {
			old = guestconf.TagList(g.Conf["tags"])
		}
		return guest.CheckTags(c, t, old, guestconf.TagList(value))
	}
	if err := guest.CheckVM(c, t, o.Privilege); err != nil {
		return err
	}
	switch {
	case guestconf.NetName.MatchString(name) && sets:
		return guest.CheckBridgeOf(c, schema.Format("lxc-net"), value)
	case guestconf.MountName.MatchString(name) && sets:
		return checkMount(c, t, name, value)
	}
	return nil
}

func checkMount(c *core.Call, t guest.Target, name, value string) error {
	volume := guestconf.MountVolume(value)
	if m := guest.NewDisk.FindStringSubmatch(volume); m != nil {
		return c.Check("/storage/"+m[1], "Datastore.AllocateSpace")
	}
	if plainSize.MatchString(volume) {
		return nil // on the default storage, which is asked for later
	}
	if volume == "" || volume[0] == '/' {
		return &core.APIError{Status: 403, Message: "Permission check failed (mount point type bind is only allowed for root@pam)"}
	}
	return guest.CheckVolume(c, t, volume)
}

// checkFeatures lets those who may make containers switch nesting; all else is root@pam's.
func checkFeatures(c *core.Call, t guest.Target, g *core.Guest, value string, unprivileged bool) error {
	if !unprivileged {
		return &core.APIError{Status: 403, Message: "Permission check failed (changing feature flags for privileged container is only allowed for root@pam)"}
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
	for _, flag := range append(core.SortedKeys(old), core.SortedKeys(now)...) {
		if flag != "nesting" && old[flag] != now[flag] {
			return &core.APIError{Status: 403, Message: "Permission check failed (changing feature flags (except nesting) is only allowed for root@pam)"}
		}
	}
	return guest.CheckVM(c, t, "VM.Allocate")
}

// putCTConfig changes a container's options: at once where that is possible while it runs, else at its next start.
func putCTConfig(c *core.Call) (any, error) {
	w := &guest.Change{Target: guest.Target{VMID: c.VMID()}, Set: map[string]string{}, Remove: c.List("delete"), Revert: c.List("revert")}
	for name := range c.Params {
		w.Set[name] = c.Text(name)
	}
	for _, name := range []string{"node", "vmid", "delete", "revert", "digest"} {
		delete(w.Set, name)
	}
	if len(w.Set)+len(w.Remove)+len(w.Revert) == 0 {
		return nil, core.Fail("no options specified")
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

func mayChangeCT(c *core.Call, g *core.Guest, w *guest.Change) error {
	if err := c.Unlocked(g); err != nil {
		return err
	}
	if d := c.Text("digest"); d != "" && d != g.Digest() {
		return core.Fail("detected modified configuration - file changed by other user? Try again.")
	}
	for _, list := range []struct {
		param string
		names []string
	}{{"revert", w.Revert}, {"delete", w.Remove}} {
		for _, name := range list.names {
			if _, known := guestconf.CTOptions()[name]; !known {
				return core.Invalid(list.param, "unknown option '%s'", name)
			}
			if _, both := w.Set[name]; both {
				return core.Invalid(list.param, "you can't use '-%s' and -%s %s' at the same time", name, list.param, name)
			}
		}
	}
	if _, fixed := w.Set["unprivileged"]; fixed {
		return core.Fail("unable to modify read-only option: 'unprivileged'")
	}
	for _, name := range []string{"rootfs", "unprivileged"} {
		if slices.Contains(w.Remove, name) {
			return core.Fail("unable to delete required option '%s'", name)
		}
	}
	if err := checkCT(c, w, g, g.Conf["unprivileged"] == "1"); err != nil {
		return err
	}
	return c.Writable(g)
}

// changeCT works on copies, so that all is done or nothing.
func changeCT(c *core.Call, g *core.Guest, w *guest.Change) error {
	conf, pending, removed := maps.Clone(g.Conf), core.CopyMap(g.Pending), core.CopyMap(g.Removed)
	for _, name := range w.Revert {
		delete(pending, name)
		delete(removed, name)
	}
	isOn := g.State != core.Stopped
	for _, name := range w.Remove {
		delete(pending, name)
		if isOn && !guestconf.CTOptions()[name].Live {
			removed[name] = false
			continue
		}
		dropCT(c.State, g, conf, name)
	}
	for _, name := range core.SortedKeys(w.Set) {
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
func dropCT(s *core.State, g *core.Guest, conf map[string]string, name string) {
	volume := guestconf.MountVolume(conf[name])
	owned := volume != "" && s.OwnedBy(volume, g.VMID)
	delete(conf, name)
	switch {
	case guestconf.MountName.MatchString(name) && owned:
		conf[core.FreeUnused(conf)] = volume
	case guestconf.UnusedName.MatchString(name) && owned:
		s.RemoveVolume(g.Node, volume)
	}
}

// Kind are switched on and off so.
var Kind = core.Kind{Settle: settleCT, Startable: startableCT}

// settleCT applies what waited for a container to be off.
func settleCT(s *core.State, g *core.Guest) error {
	for name := range g.Removed {
		dropCT(s, g, g.Conf, name)
	}
	maps.Copy(g.Conf, g.Pending)
	g.Pending, g.Removed = nil, nil
	return nil
}

// resizeCT grows a volume of a container.
func resizeCT(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if d := c.Text("digest"); d != "" && d != g.Digest() {
		return nil, core.Fail("checksum mismatch (file change by other user?)")
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	name := c.Text("disk")
	return c.Fork(g.Node, "resize", core.Itoa(g.VMID), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		return growCT(c, g, name)
	}), nil
}

func growCT(c *core.Call, g *core.Guest, name string) error {
	v := c.State.Volume(g.Node, guestconf.MountVolume(g.Conf[name]))
	if v == nil {
		return core.Fail("no '%s' configured", name)
	}
	if err := c.Check("/storage/"+v.Storage, "Datastore.AllocateSpace"); err != nil {
		return err
	}
	size, ok := grown(c.Text("size"), v.Size)
	switch {
	case !ok:
		return core.Fail("invalid size string")
	case size < v.Size:
		return core.Fail("unable to shrink disk size")
	case size == v.Size:
		return nil
	case !c.State.Fits(c.State.Storages[v.Storage], g.Node, size-v.Size):
		return core.Fail("unable to resize: No space left on device")
	}
	stored, _, err := resized(c.State, g, name, v, size)
	if err != nil {
		return err
	}
	g.Conf[name] = stored
	return nil
}

// resized sets a volume's size and returns the mount point that tells it.
func resized(s *core.State, g *core.Guest, name string, v *core.Volume, size int64) (string, *core.Volume, error) {
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
