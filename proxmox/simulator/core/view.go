package core

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/inside"
	"kubehenge.dev/proxmox/simulator/schema"
)

// View is the machine as its inside sees it.
func (s *State) View(g *Guest) inside.Guest {
	v := inside.Guest{VMID: g.VMID, Name: g.ShownName(), Node: g.Node, Cores: g.CPUs(), MemoryMiB: int(g.Memory() >> 20)}
	v.Tags = guestconf.TagList(g.Conf["tags"])
	if pairs, err := schema.Format("smbios1").ParseProperties("smbios1", g.Conf["smbios1"]); err == nil {
		v.UUID = pairs.Values["uuid"]
	}
	for i := range 32 {
		value := g.Conf["net"+Itoa(i)]
		if value == "" {
			continue
		}
		if card, err := guestconf.FormatOf("net0").ParseProperties("net", value); err == nil && card.Values["macaddr"] != "" {
			v.MACs = append(v.MACs, strings.ToUpper(card.Values["macaddr"]))
		}
	}
	for _, d := range guestconf.Drives(g.Conf) {
		if !d.CDROM() || v.ISO != nil {
			continue
		}
		if vol := s.Volume(g.Node, d.File()); vol != nil {
			v.ISO = vol.Data
		}
	}
	return v
}
