package lxc

import (
	"path"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
)

// templateCT makes a template; unlike that of a machine, its task is not told of.
func templateCT(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	switch {
	case len(g.Snaps) > 0:
		return nil, core.Fail("unable to create template, because CT contains snapshots")
	case g.Template():
		return nil, core.Fail("you can't convert a template to a template")
	case g.State != core.Stopped:
		return nil, core.Fail("you can't convert a CT to template if the CT is running")
	}
	c.Fork(c.Node(), "vztemplate", core.Itoa(g.VMID), func(t *core.Task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		return baseMounts(c.State, g)
	})
	return nil, nil
}

// baseMounts renames the volumes of a container to base volumes.
func baseMounts(s *core.State, g *core.Guest) error {
	conf := core.CopyMap(g.Conf)
	volumes := mounts(conf)
	for _, option := range core.SortedKeys(volumes) {
		v := s.Volume(g.Node, volumes[option])
		if v == nil {
			return core.Fail("volume '%s' does not exist", volumes[option])
		}
		old := v.ID
		_, name := core.SplitVolume(old)
		based := strings.NewReplacer("vm-", "base-", "subvol-", "basevol-").Replace(path.Base(name))
		s.DropVolume(v)
		v.ID = strings.TrimSuffix(old, path.Base(name)) + based
		s.PutVolume(v)
		conf[option] = strings.Replace(conf[option], old, v.ID, 1)
	}
	conf["template"] = "1"
	g.Conf = conf
	return nil
}

func featureCT(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	has := true
	for _, id := range mounts(g.Conf) {
		if c.Text("feature") == "snapshot" && !c.State.CanSnapshot(g.Node, id) || c.Text("feature") == "clone" && !strings.Contains(id, "base") {
			has = false
		}
	}
	return core.Row{"hasFeature": core.Bit(has)}, nil
}
