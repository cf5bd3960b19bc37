package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/guestconf"
	"kubehenge.dev/proxmox/simulator/schema"
)

// view is the machine as its inside sees it.
func (s *state) view(g *guest) Guest {
	v := Guest{VMID: g.vmid, Name: g.shownName(), Node: g.node, Cores: g.cpus(), MemoryMiB: int(g.memory() >> 20)}
	v.Tags = guestconf.TagList(g.conf["tags"])
	if pairs, err := schema.Format("smbios1").ParseProperties("smbios1", g.conf["smbios1"]); err == nil {
		v.UUID = pairs.Values["uuid"]
	}
	for i := range 32 {
		value := g.conf["net"+itoa(i)]
		if value == "" {
			continue
		}
		if card, err := guestconf.FormatOf("net0").ParseProperties("net", value); err == nil && card.Values["macaddr"] != "" {
			v.MACs = append(v.MACs, strings.ToUpper(card.Values["macaddr"]))
		}
	}
	for _, d := range guestconf.Drives(g.conf) {
		if !d.CDROM() || v.ISO != nil {
			continue
		}
		if vol := s.volume(g.node, d.File()); vol != nil {
			v.ISO = vol.data
		}
	}
	return v
}
