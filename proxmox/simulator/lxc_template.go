package simulator

import (
	"path"
	"strings"
)

// templateCT makes a template; unlike that of a machine, its task is not told of.
func (c *call) templateCT() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if err := c.unlocked(g); err != nil {
		return nil, err
	}
	switch {
	case len(g.snaps) > 0:
		return nil, fail("unable to create template, because CT contains snapshots")
	case g.template():
		return nil, fail("you can't convert a template to a template")
	case g.state != stopped:
		return nil, fail("you can't convert a CT to template if the CT is running")
	}
	c.fork(c.node(), "vztemplate", itoa(g.vmid), func(t *task) error {
		if err := t.busy(); err != nil {
			return err
		}
		return c.s.baseMounts(g)
	})
	return nil, nil
}

// baseMounts renames the volumes of a container to base volumes.
func (s *state) baseMounts(g *guest) error {
	conf := copyMap(g.conf)
	volumes := mounts(conf)
	for _, option := range sortedKeys(volumes) {
		v := s.volume(g.node, volumes[option])
		if v == nil {
			return fail("volume '%s' does not exist", volumes[option])
		}
		old := v.id
		_, name := splitVolume(old)
		based := strings.NewReplacer("vm-", "base-", "subvol-", "basevol-").Replace(path.Base(name))
		s.dropVolume(v)
		v.id = strings.TrimSuffix(old, path.Base(name)) + based
		s.putVolume(v)
		conf[option] = strings.Replace(conf[option], old, v.id, 1)
	}
	conf["template"] = "1"
	g.conf = conf
	return nil
}

func (c *call) featureCT() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	has := true
	for _, id := range mounts(g.conf) {
		if c.text("feature") == "snapshot" && !c.s.snapshots(g.node, id) || c.text("feature") == "clone" && !strings.Contains(id, "base") {
			has = false
		}
	}
	return row{"hasFeature": bit(has)}, nil
}
