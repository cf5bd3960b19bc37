package guest

import (
	"maps"
	"slices"
	"strings"

	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// Destroy is the task that deletes a guest with the images that belong to it; with purge, also from jobs and the HA manager.
func Destroy(c *core.Call, t *core.Task, node string, vmid int, purge bool) error {
	s := c.State
	g, err := s.GuestOn(node, c.Kind(), vmid)
	if err != nil {
		return err
	}
	if g.Lock() != "suspended" {
		if err := c.Unlocked(g); err != nil {
			return err
		}
	}
	owned := OwnImages(s, g)
	for _, id := range owned {
		if v := s.Volume(node, id); v != nil && s.LinkedClones(v) {
			return core.Fail("base volume '%s' is still in use by linked cloned", id)
		}
	}
	g.Conf["lock"] = "destroyed"
	if err := t.Busy(); err != nil {
		delete(g.Conf, "lock")
		return err
	}
	for _, id := range owned {
		s.RemoveVolume(node, id)
	}
	if c.Flag("destroy-unreferenced-disks", false) {
		removeAll(s, node, vmid)
	}
	if s.Inside != nil && g.Kind == "qemu" {
		view := s.View(g)
		t.Ask(func() { s.Inside.Destroy(t.Context, view) })
	}
	s.ACL.RemoveGuest(vmid)
	delete(s.Walls, core.Itoa(vmid))
	if purge {
		t.Say("purging %s %d from related configurations..", map[string]string{"qemu": "VM", "lxc": "CT"}[g.Kind], vmid)
		purgeRelated(s, g)
	}
	delete(s.Guests, vmid)
	return nil
}

// OwnImages are the images of a guest that its configuration names, pending and snapshots included.
func OwnImages(s *core.State, g *core.Guest) []string {
	confs := []map[string]string{g.Conf, g.Pending}
	for _, snap := range g.Snaps {
		confs = append(confs, snap)
	}
	found := map[string]bool{}
	for _, conf := range confs {
		for _, id := range append(slices.Collect(maps.Values(guestconf.Images(conf))), conf["vmstate"]) {
			if s.OwnedBy(id, g.VMID) {
				found[id] = true
			}
		}
	}
	return core.SortedKeys(found)
}

// removeAll removes all images that bear the guest's ID.
func removeAll(s *core.State, node string, vmid int) {
	for _, v := range s.Volumes {
		if v.VMID == vmid && (v.Content == "images" || v.Content == "rootdir") && (v.Node == "" || v.Node == node) {
			s.DropVolume(v)
		}
	}
}

// purgeRelated takes a guest out of backup and replication jobs and of the HA manager's configuration.
func purgeRelated(s *core.State, g *core.Guest) {
	kept := s.Jobs[:0]
	for _, j := range s.Jobs {
		list := strings.Split(j.Fields["vmid"], ",")
		rest := list[:0]
		for _, id := range list {
			if id != core.Itoa(g.VMID) {
				rest = append(rest, id)
			}
		}
		if len(rest) == 0 {
			continue
		}
		if j.Fields["vmid"] != "" {
			j.Fields["vmid"] = strings.Join(rest, ",")
		}
		kept = append(kept, j)
	}
	s.Jobs = kept
	s.HA.Forget(core.HAID(g))
	s.ForgetReplication(g.VMID)
}
