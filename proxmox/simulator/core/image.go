package core

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// BootDiskSize is the size of the first disk that the machine boots from, which the API shows as the machine's.
func (s *State) BootDiskSize(g *Guest) int64 {
	if g.Kind == "lxc" {
		return rootSize(g)
	}
	for _, option := range guestconf.BootOrder(g.Conf) {
		if !guestconf.DriveName.MatchString(option) || g.Conf[option] == "" {
			continue
		}
		if value := g.Conf[option]; !strings.Contains(value, "media=cdrom") {
			return guestconf.SizeIn(value)
		}
	}
	return 0
}

func rootSize(g *Guest) int64 { return guestconf.SizeIn(g.Conf["rootfs"]) }

// OwnedBy tells whether an image belongs to a guest.
func (s *State) OwnedBy(id string, vmid int) bool {
	name, rest := SplitVolume(id)
	st := s.Storages[name]
	if st == nil {
		return false
	}
	p, err := st.ParseVolume(rest)
	return err == nil && p.VMID == vmid && (p.Content == "images" || p.Content == "rootdir")
}
