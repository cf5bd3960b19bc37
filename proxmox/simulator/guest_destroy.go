package simulator

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

func (c *call) destroy(t *task, node string, vmid int, purge bool) error {
	s := c.s
	g, err := s.guestOn(node, c.kind(), vmid)
	if err != nil {
		return err
	}
	if g.lock() != "suspended" {
		if err := c.unlocked(g); err != nil {
			return err
		}
	}
	owned := s.ownImages(g)
	for _, id := range owned {
		if v := s.volume(node, id); v != nil && s.linkedClones(v) {
			return fail("base volume '%s' is still in use by linked cloned", id)
		}
	}
	g.conf["lock"] = "destroyed"
	if err := t.busy(); err != nil {
		delete(g.conf, "lock")
		return err
	}
	for _, id := range owned {
		s.remove(node, id)
	}
	if c.flag("destroy-unreferenced-disks", false) {
		s.removeAll(node, vmid)
	}
	if s.inside != nil && g.kind == "qemu" {
		view := s.view(g)
		t.ask(func() { s.inside.Destroy(t.ctx, view) })
	}
	s.acl.RemoveGuest(vmid)
	delete(s.walls, itoa(vmid))
	if purge {
		t.say("purging %s %d from related configurations..", map[string]string{"qemu": "VM", "lxc": "CT"}[g.kind], vmid)
		s.purge(g)
	}
	delete(s.guests, vmid)
	return nil
}

// ownImages are the images of a guest that its configuration names, pending and snapshots included.
func (s *state) ownImages(g *guest) []string {
	confs := []map[string]string{g.conf, g.pending}
	for _, snap := range g.snaps {
		confs = append(confs, snap)
	}
	found := map[string]bool{}
	for _, conf := range confs {
		for _, id := range append(slices.Collect(maps.Values(guestconf.Images(conf))), conf["vmstate"]) {
			if s.ownedBy(id, g.vmid) {
				found[id] = true
			}
		}
	}
	return sortedKeys(found)
}

// removeAll removes all images that bear the guest's ID.
func (s *state) removeAll(node string, vmid int) {
	for _, v := range s.volumes {
		if v.vmid == vmid && (v.content == "images" || v.content == "rootdir") && (v.node == "" || v.node == node) {
			s.dropVolume(v)
		}
	}
}

// purge takes a guest out of backup and replication jobs and of the HA manager's configuration.
func (s *state) purge(g *guest) {
	kept := s.jobs[:0]
	for _, j := range s.jobs {
		list := strings.Split(j.fields["vmid"], ",")
		rest := list[:0]
		for _, id := range list {
			if id != itoa(g.vmid) {
				rest = append(rest, id)
			}
		}
		if len(rest) == 0 {
			continue
		}
		if j.fields["vmid"] != "" {
			j.fields["vmid"] = strings.Join(rest, ",")
		}
		kept = append(kept, j)
	}
	s.jobs = kept
	s.ha.forget(haID(g))
	s.forgetReplication(g.vmid)
}
