package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/cloudinit"
)

// cloudInitEndpoints show what a machine's cloud-init drive holds. Source: qemu-server src/PVE/QemuServer/Cloudinit.pm.
func cloudInitEndpoints() []*endpoint {
	audit := need("/vms/{vmid}", "VM.Audit")
	return []*endpoint{
		on("GET /nodes/{node}/qemu/{vmid}/cloudinit", audit, "", (*call).cloudInitPending),
		on("PUT /nodes/{node}/qemu/{vmid}/cloudinit", need("/vms/{vmid}", "VM.Config.Cloudinit"), "", (*call).regenerate),
		on("GET /nodes/{node}/qemu/{vmid}/cloudinit/dump", audit, "type* enum(user network meta)", (*call).cloudInitDump),
	}
}

// cloudInitOptions are those that the drive is made of, besides the network's.
var cloudInitOptions = strings.Fields("cicustom cipassword citype ciupgrade ciuser nameserver searchdomain sshkeys")

func (c *call) cloudInitPending() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, option := range cloudInitOptions {
		if v, ok := g.conf[option]; ok {
			rows = append(rows, row{"key": option, "value": g.shown(option, v)})
		}
	}
	return rows, nil
}

func (c *call) regenerate() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	return nil, c.unlocked(g)
}

func (c *call) cloudInitDump() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	host := or(g.name(), "VM"+itoa(g.vmid))
	switch c.text("type") {
	case "network":
		return cloudinit.NetworkData(g.conf), nil
	case "meta":
		return cloudinit.MetaData(host, g.conf), nil
	}
	return cloudinit.UserData(host, g.conf), nil
}
