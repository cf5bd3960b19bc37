package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/cloudinit"
)

// cloudInitEndpoints show what a machine's cloud-init drive holds. Source: qemu-server src/PVE/QemuServer/Cloudinit.pm.
func cloudInitEndpoints() []*Endpoint {
	audit := Need("/vms/{vmid}", "VM.Audit")
	return []*Endpoint{
		On("GET /nodes/{node}/qemu/{vmid}/cloudinit", audit, "", cloudInitPending),
		On("PUT /nodes/{node}/qemu/{vmid}/cloudinit", Need("/vms/{vmid}", "VM.Config.Cloudinit"), "", regenerate),
		On("GET /nodes/{node}/qemu/{vmid}/cloudinit/dump", audit, "type* enum(user network meta)", cloudInitDump),
	}
}

// cloudInitOptions are those that the drive is made of, besides the network's.
var cloudInitOptions = strings.Fields("cicustom cipassword citype ciupgrade ciuser nameserver searchdomain sshkeys")

func cloudInitPending(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, option := range cloudInitOptions {
		if v, ok := g.Conf[option]; ok {
			rows = append(rows, Row{"key": option, "value": g.Shown(option, v)})
		}
	}
	return rows, nil
}

func regenerate(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	return nil, c.Unlocked(g)
}

func cloudInitDump(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	host := Or(g.Name(), "VM"+Itoa(g.VMID))
	switch c.Text("type") {
	case "network":
		return cloudinit.NetworkData(g.Conf), nil
	case "meta":
		return cloudinit.MetaData(host, g.Conf), nil
	}
	return cloudinit.UserData(host, g.Conf), nil
}
