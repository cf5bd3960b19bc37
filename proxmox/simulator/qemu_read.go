package simulator

import "kubehenge.dev/proxmox/simulator/guestconf"

// guestEndpoints read virtual machines and containers. Source: qemu-server src/PVE/API2/Qemu.pm.
func guestEndpoints() []*endpoint {
	audit := need("/vms/{vmid}", "VM.Audit")
	list := []*endpoint{
		on("GET /nodes/{node}/qemu", anyone, "full bool", func(c *call) (any, error) { return c.listGuests("qemu") }),
		on("GET /nodes/{node}/qemu/{vmid}", anyone, "", index("agent cloudinit config firewall migrate monitor move mtunnel pending remote_migrate resize rrd rrddata sendkey snapshot spiceproxy status termproxy unlink vncproxy")),
		on("GET /nodes/{node}/qemu/{vmid}/status", anyone, "", index("current reboot reset shutdown start stop suspend")),
		on("GET /nodes/{node}/qemu/{vmid}/status/current", audit, "", (*call).guestStatus),
		on("GET /nodes/{node}/qemu/{vmid}/config", audit, "current bool; snapshot configid(..40)", (*call).readConfig),
		on("GET /nodes/{node}/qemu/{vmid}/pending", audit, "", (*call).readPending),
		on("GET /nodes/{node}/qemu/{vmid}/feature", audit, "feature* enum(snapshot clone copy); snapname configid(..40)", (*call).readFeature),
	}
	return list
}

func (c *call) readFeature() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	has := true
	for _, d := range guestconf.Drives(g.conf) {
		if d.Volume() && !d.CDROM() && c.text("feature") == "snapshot" && !c.s.snapshots(g.node, d.File()) {
			has = false
		}
	}
	return row{"hasFeature": bit(has), "nodes": []string{g.node}}, nil
}
