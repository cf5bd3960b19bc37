package qemu

import (
	"kubehenge.dev/proxmox/simulator/api/guest"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/guestconf"
)

// guestEndpoints read virtual machines and containers. Source: qemu-server src/PVE/API2/Qemu.pm.
func guestEndpoints() []*core.Endpoint {
	audit := core.Need("/vms/{vmid}", "VM.Audit")
	list := []*core.Endpoint{
		core.On("GET /nodes/{node}/qemu", core.Anyone, "full bool", func(c *core.Call) (any, error) { return guest.ListGuests(c, "qemu") }),
		core.On("GET /nodes/{node}/qemu/{vmid}", core.Anyone, "", core.Index("agent cloudinit config firewall migrate monitor move mtunnel pending remote_migrate resize rrd rrddata sendkey snapshot spiceproxy status termproxy unlink vncproxy")),
		core.On("GET /nodes/{node}/qemu/{vmid}/status", core.Anyone, "", core.Index("current reboot reset shutdown start stop suspend")),
		core.On("GET /nodes/{node}/qemu/{vmid}/status/current", audit, "", guest.GuestStatus),
		core.On("GET /nodes/{node}/qemu/{vmid}/config", audit, "current bool; snapshot configid(..40)", guest.ReadConfig),
		core.On("GET /nodes/{node}/qemu/{vmid}/pending", audit, "", guest.ReadPending),
		core.On("GET /nodes/{node}/qemu/{vmid}/feature", audit, "feature* enum(snapshot clone copy); snapname configid(..40)", readFeature),
	}
	return list
}

func readFeature(c *core.Call) (any, error) {
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
	return core.Row{"hasFeature": core.Bit(has), "nodes": []string{g.Node}}, nil
}
