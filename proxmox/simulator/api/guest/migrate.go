package guest

import (
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// LocalVolumes are the volumes of a machine that only its node has: disks, and CDs.
func LocalVolumes(s *core.State, g *core.Guest) (disks, cds []string) {
	conf := core.CopyMap(g.Conf)
	for option, id := range guestconf.Images(conf) {
		if name, _ := core.SplitVolume(id); s.Storages[name] != nil && !s.Storages[name].Shared && option != "" {
			disks = append(disks, id)
		}
	}
	for _, d := range guestconf.Drives(conf) {
		name, _ := core.SplitVolume(d.File())
		if d.Volume() && d.CDROM() && !d.CloudInit() && s.Storages[name] != nil && !s.Storages[name].Shared {
			cds = append(cds, d.File())
		}
	}
	return disks, cds
}

// MissingStorages are the storages of a machine that a node does not have.
func MissingStorages(s *core.State, g *core.Guest, node string) []string {
	missing := map[string]bool{}
	for _, d := range guestconf.Drives(g.Conf) {
		name, _ := core.SplitVolume(d.File())
		if st := s.Storages[name]; d.Volume() && st != nil && !st.On(node) {
			missing[name] = true
		}
	}
	return core.SortedKeys(missing)
}

// Migrate is the task: its own text stands in the log, the exit status says only that it was aborted.
func Migrate(s *core.State, t *core.Task, from, to string, vmid int, withDisks bool) error {
	g, err := s.GuestOn(from, s.KindOf(vmid), vmid)
	if err != nil {
		return err
	}
	disks, cds := LocalVolumes(s, g)
	var problem string
	switch {
	case !s.Nodes[to].Online:
		problem = "Can't connect to destination address using public key"
	case len(cds) > 0:
		problem = "can't migrate local disk '" + cds[0] + "': local cdrom image"
	case len(disks) > 0 && !withDisks:
		problem = "can't live migrate attached local disks without with-local-disks option"
	}
	for _, id := range disks {
		if v := s.Volume(from, id); v != nil && v.VMID != vmid {
			problem = "can't migrate local disk '" + id + "': owned by other VM (owner = VM " + core.Itoa(v.VMID) + ")"
		}
	}
	if problem != "" {
		t.Say("ERROR: Problem found while scanning volumes - %s", problem)
		return core.Fail("migration aborted")
	}
	g.Conf["lock"] = "migrate"
	err = t.Busy()
	delete(g.Conf, "lock")
	if err != nil {
		return err
	}
	if !s.Nodes[to].Online {
		return core.Fail("migration aborted")
	}
	for _, id := range disks {
		if v := s.Volume(from, id); v != nil {
			s.DropVolume(v)
			v.Node = to
			s.PutVolume(v)
		}
	}
	g.Node = to
	s.TurnReplication(vmid, from, to)
	return nil
}
