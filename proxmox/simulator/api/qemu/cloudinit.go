package qemu

import (
	"strings"

	"kubehenge.dev/proxmox/simulator/cloudinit"
	"kubehenge.dev/proxmox/simulator/core"
)

// cloudInitEndpoints show what a machine's cloud-init drive holds. Source: qemu-server src/PVE/QemuServer/Cloudinit.pm.
func cloudInitEndpoints() []*core.Endpoint {
	audit := core.Need("/vms/{vmid}", "VM.Audit")
	return []*core.Endpoint{
		core.On("GET /nodes/{node}/qemu/{vmid}/cloudinit", audit, "", cloudInitPending),
		core.On("PUT /nodes/{node}/qemu/{vmid}/cloudinit", core.Need("/vms/{vmid}", "VM.Config.Cloudinit"), "", regenerate),
		core.On("GET /nodes/{node}/qemu/{vmid}/cloudinit/dump", audit, "type* enum(user network meta)", cloudInitDump),
	}
}

// cloudInitOptions are those that the drive is made of, besides the network's.
var cloudInitOptions = strings.Fields("cicustom cipassword citype ciupgrade ciuser nameserver searchdomain sshkeys")

func cloudInitPending(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for _, option := range cloudInitOptions {
		if v, ok := g.Conf[option]; ok {
			rows = append(rows, core.Row{"key": option, "value": g.Shown(option, v)})
		}
	}
	return rows, nil
}

func regenerate(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	return nil, c.Unlocked(g)
}

func cloudInitDump(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	host := core.Or(g.Name(), "VM"+core.Itoa(g.VMID))
	switch c.Text("type") {
	case "network":
		return cloudinit.NetworkData(g.Conf), nil
	case "meta":
		return cloudinit.MetaData(host, g.Conf), nil
	}
	return cloudinit.UserData(host, g.Conf), nil
}
