package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
)

// bootDiskSize is the size of the first disk that the machine boots from, which the API shows as the machine's.
func (s *state) bootDiskSize(g *guest) int64 {
	if g.kind == "lxc" {
		return rootSize(g)
	}
	for _, option := range guestconf.BootOrder(g.conf) {
		if !guestconf.DriveName.MatchString(option) || g.conf[option] == "" {
			continue
		}
		if value := g.conf[option]; !strings.Contains(value, "media=cdrom") {
			return guestconf.SizeIn(value)
		}
	}
	return 0
}

func rootSize(g *guest) int64 { return guestconf.SizeIn(g.conf["rootfs"]) }

// ownedBy tells whether an image belongs to a guest.
func (s *state) ownedBy(id string, vmid int) bool {
	name, rest := splitVolume(id)
	st := s.storages[name]
	if st == nil {
		return false
	}
	p, err := st.parseVolume(rest)
	return err == nil && p.vmid == vmid && (p.content == "images" || p.content == "rootdir")
}
