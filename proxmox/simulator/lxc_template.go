package simulator

import (
	"path"
	"strings"
)

// templateCT makes a template; unlike that of a machine, its task is not told of.
func templateCT(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if err := c.Unlocked(g); err != nil {
		return nil, err
	}
	switch {
	case len(g.Snaps) > 0:
		return nil, Fail("unable to create template, because CT contains snapshots")
	case g.Template():
		return nil, Fail("you can't convert a template to a template")
	case g.State != Stopped:
		return nil, Fail("you can't convert a CT to template if the CT is running")
	}
	c.Fork(c.Node(), "vztemplate", Itoa(g.VMID), func(t *task) error {
		if err := t.Busy(); err != nil {
			return err
		}
		return baseMounts(c.State, g)
	})
	return nil, nil
}

// baseMounts renames the volumes of a container to base volumes.
func baseMounts(s *State, g *guest) error {
	conf := CopyMap(g.Conf)
	volumes := mounts(conf)
	for _, option := range SortedKeys(volumes) {
		v := s.Volume(g.Node, volumes[option])
		if v == nil {
			return Fail("volume '%s' does not exist", volumes[option])
		}
		old := v.ID
		_, name := SplitVolume(old)
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

func featureCT(c *call) (any, error) {
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
	return Row{"hasFeature": Bit(has)}, nil
}
