package simulator

import "kubehenge.dev/proxmox/simulator/guestconf"

// guestEndpoints read virtual machines and containers. Source: qemu-server src/PVE/API2/Qemu.pm.
func guestEndpoints() []*Endpoint {
	audit := Need("/vms/{vmid}", "VM.Audit")
	list := []*Endpoint{
		On("GET /nodes/{node}/qemu", Anyone, "full bool", func(c *call) (any, error) { return ListGuests(c, "qemu") }),
		On("GET /nodes/{node}/qemu/{vmid}", Anyone, "", Index("agent cloudinit config firewall migrate monitor move mtunnel pending remote_migrate resize rrd rrddata sendkey snapshot spiceproxy status termproxy unlink vncproxy")),
		On("GET /nodes/{node}/qemu/{vmid}/status", Anyone, "", Index("current reboot reset shutdown start stop suspend")),
		On("GET /nodes/{node}/qemu/{vmid}/status/current", audit, "", GuestStatus),
		On("GET /nodes/{node}/qemu/{vmid}/config", audit, "current bool; snapshot configid(..40)", ReadConfig),
		On("GET /nodes/{node}/qemu/{vmid}/pending", audit, "", ReadPending),
		On("GET /nodes/{node}/qemu/{vmid}/feature", audit, "feature* enum(snapshot clone copy); snapname configid(..40)", readFeature),
	}
	return list
}

func readFeature(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	has := true
	for _, d := range guestconf.Drives(g.Conf) {
		if d.Volume() && !d.CDROM() && c.Text("feature") == "snapshot" && !c.State.CanSnapshot(g.Node, d.File()) {
			has = false
		}
	}
	return Row{"hasFeature": Bit(has), "nodes": []string{g.Node}}, nil
}
