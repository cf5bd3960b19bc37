package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/access"
)

// vmMonitorEndpoints talk to the process of a running machine. Source: qemu-server src/PVE/API2/Qemu.pm.
func vmMonitorEndpoints() []*Endpoint {
	const at = "/nodes/{node}/qemu/{vmid}"
	return []*Endpoint{
		On("POST "+at+"/monitor", monitorAccess, "command* string", monitor),
		On("PUT "+at+"/sendkey", Need("/vms/{vmid}", "VM.Console"), "key* string; skiplock bool", sendKey),
		On("POST "+at+"/dbus-vmstate", Need("/vms/{vmid}", "VM.Migrate"), "action* enum(start stop)", dbusState),
		On("POST "+at+"/agent", Need("/vms/{vmid}", free), "command* enum("+plainAgentCommands()+")", anyAgentCommand),
	}
}

// monitorAccess differs between the versions.
func monitorAccess(c *call) error {
	privileges := "Sys.Audit|Sys.Modify"
	if c.State.Version == access.V8 {
		privileges = "VM.Monitor"
	}
	return c.Check("/vms/"+c.Text("vmid"), privileges)
}

// monitor answers the few commands of QEMU's monitor that say something about a machine without an inside.
func monitor(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if g.State == Stopped {
		return nil, Fail("VM %d not running", g.VMID)
	}
	command := strings.Fields(c.Text("command"))
	switch {
	case len(command) > 1 && command[0] == "info" && command[1] == "status":
		return "VM status: " + g.State + "\r\n", nil
	case len(command) > 1 && command[0] == "info" && command[1] == "version":
		return QEMUVersion + "pve-qemu-kvm_" + QEMUVersion + "\r\n", nil
	case len(command) > 0 && command[0] == "info":
		return "", nil
	}
	if err := c.Check("/", "Sys.Modify"); c.State.Version != access.V8 && err != nil {
		return nil, err
	}
	return "", nil
}

func sendKey(c *call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if g.State == Stopped {
		return nil, Fail("VM %d not running", g.VMID)
	}
	return nil, nil
}

func dbusState(c *call) (any, error) {
	if _, err := c.Guest(); err != nil {
		return nil, err
	}
	return nil, nil
}

// plainAgentCommands are the commands of the agent that take no parameters, sorted.
func plainAgentCommands() string {
	names := map[string]bool{}
	for _, cmd := range agentCommands {
		if !cmd.direct && cmd.params == "" {
			names[cmd.name] = true
		}
	}
	return strings.Join(SortedKeys(names), " ")
}

func anyAgentCommand(c *call) (any, error) {
	name := c.Text("command")
	for _, cmd := range agentCommands {
		if cmd.name == name {
			delete(c.Params, "command")
			return agent(c, cmd)
		}
	}
	return nil, Fail("no such command '%s'", name)
}
