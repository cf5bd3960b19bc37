package simulator

import "kubehenge.dev/proxmox/simulator/guestconf"

// localVolumes are the volumes of a machine that only its node has: disks, and CDs.
func (s *state) localVolumes(g *guest) (disks, cds []string) {
	conf := copyMap(g.conf)
	for option, id := range guestconf.Images(conf) {
		if name, _ := splitVolume(id); s.storages[name] != nil && !s.storages[name].shared && option != "" {
			disks = append(disks, id)
		}
	}
	for _, d := range guestconf.Drives(conf) {
		name, _ := splitVolume(d.File())
		if d.Volume() && d.CDROM() && !d.CloudInit() && s.storages[name] != nil && !s.storages[name].shared {
			cds = append(cds, d.File())
		}
	}
	return disks, cds
}

func (s *state) missingStorages(g *guest, node string) []string {
	missing := map[string]bool{}
	for _, d := range guestconf.Drives(g.conf) {
		name, _ := splitVolume(d.File())
		if st := s.storages[name]; d.Volume() && st != nil && !st.on(node) {
			missing[name] = true
		}
	}
	return sortedKeys(missing)
}

// migrate is the task: its own text stands in the log, the exit status says only that it was aborted.
func (s *state) migrate(t *task, from, to string, vmid int, withDisks bool) error {
	g, err := s.guestOn(from, s.kindOf(vmid), vmid)
	if err != nil {
		return err
	}
	disks, cds := s.localVolumes(g)
	var problem string
	switch {
	case !s.nodes[to].online:
		problem = "Can't connect to destination address using public key"
	case len(cds) > 0:
		problem = "can't migrate local disk '" + cds[0] + "': local cdrom image"
	case len(disks) > 0 && !withDisks:
		problem = "can't live migrate attached local disks without with-local-disks option"
	}
	for _, id := range disks {
		if v := s.volume(from, id); v != nil && v.vmid != vmid {
			problem = "can't migrate local disk '" + id + "': owned by other VM (owner = VM " + itoa(v.vmid) + ")"
		}
	}
	if problem != "" {
		t.say("ERROR: Problem found while scanning volumes - %s", problem)
		return fail("migration aborted")
	}
	g.conf["lock"] = "migrate"
	err = t.busy()
	delete(g.conf, "lock")
	if err != nil {
		return err
	}
	if !s.nodes[to].online {
		return fail("migration aborted")
	}
	for _, id := range disks {
		if v := s.volume(from, id); v != nil {
			s.dropVolume(v)
			v.node = to
			s.putVolume(v)
		}
	}
	g.node = to
	s.turnReplication(vmid, from, to)
	return nil
}
