package qemu

import (
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/core"
)

// vmMonitorEndpoints talk to the process of a running machine. Source: qemu-server src/PVE/API2/Qemu.pm.
func vmMonitorEndpoints() []*core.Endpoint {
	const at = "/nodes/{node}/qemu/{vmid}"
	return []*core.Endpoint{
		core.On("POST "+at+"/monitor", monitorAccess, "command* string", monitor),
		core.On("PUT "+at+"/sendkey", core.Need("/vms/{vmid}", "VM.Console"), "key* string; skiplock bool", sendKey),
		core.On("POST "+at+"/dbus-vmstate", core.Need("/vms/{vmid}", "VM.Migrate"), "action* enum(start stop)", dbusState),
		core.On("POST "+at+"/agent", core.Need("/vms/{vmid}", free), "command* enum("+plainAgentCommands()+")", anyAgentCommand),
	}
}

// monitorAccess differs between the versions.
func monitorAccess(c *core.Call) error {
	privileges := "Sys.Audit|Sys.Modify"
	if c.State.Version == access.V8 {
		privileges = "VM.Monitor"
	}
	return c.Check("/vms/"+c.Text("vmid"), privileges)
}

// monitor answers the few commands of QEMU's monitor that say something about a machine without an inside.
func monitor(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if g.State == core.Stopped {
		return nil, core.Fail("VM %d not running", g.VMID)
	}
	command := strings.Fields(c.Text("command"))
	switch {
	case len(command) > 1 && command[0] == "info" && command[1] == "status":
		return "VM status: " + g.State + "\r\n", nil
	case len(command) > 1 && command[0] == "info" && command[1] == "version":
		return core.QEMUVersion + "pve-qemu-kvm_" + core.QEMUVersion + "\r\n", nil
	case len(command) > 0 && command[0] == "info":
		return "", nil
	}
	if err := c.Check("/", "Sys.Modify"); c.State.Version != access.V8 && err != nil {
		return nil, err
	}
	return "", nil
}

func sendKey(c *core.Call) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if g.State == core.Stopped {
		return nil, core.Fail("VM %d not running", g.VMID)
	}
	return nil, nil
}

func dbusState(c *core.Call) (any, error) {
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
	return strings.Join(core.SortedKeys(names), " ")
}

func anyAgentCommand(c *core.Call) (any, error) {
	name := c.Text("command")
	for _, cmd := range agentCommands {
		if cmd.name == name {
			delete(c.Params, "command")
			return agent(c, cmd)
		}
	}
	return nil, core.Fail("no such command '%s'", name)
}
