package simulator

import (
	"strings"

	"kubehenge.dev/proxmox/access"
)

// vmMonitorEndpoints talk to the process of a running machine. Source: qemu-server src/PVE/API2/Qemu.pm.
func vmMonitorEndpoints() []*endpoint {
	const at = "/nodes/{node}/qemu/{vmid}"
	return []*endpoint{
		on("POST "+at+"/monitor", monitorAccess, "command* string", (*call).monitor),
		on("PUT "+at+"/sendkey", need("/vms/{vmid}", "VM.Console"), "key* string; skiplock bool", (*call).sendKey),
		on("POST "+at+"/dbus-vmstate", need("/vms/{vmid}", "VM.Migrate"), "action* enum(start stop)", (*call).dbusState),
		on("POST "+at+"/agent", need("/vms/{vmid}", free), "command* enum("+plainAgentCommands()+")", (*call).anyAgentCommand),
	}
}

// monitorAccess differs between the versions.
func monitorAccess(c *call) error {
	privileges := "Sys.Audit|Sys.Modify"
	if c.s.version == access.V8 {
		privileges = "VM.Monitor"
	}
	return c.check("/vms/"+c.text("vmid"), privileges)
}

// monitor answers the few commands of QEMU's monitor that say something about a machine without an inside.
func (c *call) monitor() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if g.state == stopped {
		return nil, fail("VM %d not running", g.vmid)
	}
	command := strings.Fields(c.text("command"))
	switch {
	case len(command) > 1 && command[0] == "info" && command[1] == "status":
		return "VM status: " + g.state + "\r\n", nil
	case len(command) > 1 && command[0] == "info" && command[1] == "version":
		return qemuVersion + "pve-qemu-kvm_" + qemuVersion + "\r\n", nil
	case len(command) > 0 && command[0] == "info":
		return "", nil
	}
	if err := c.check("/", "Sys.Modify"); c.s.version != access.V8 && err != nil {
		return nil, err
	}
	return "", nil
}

func (c *call) sendKey() (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if g.state == stopped {
		return nil, fail("VM %d not running", g.vmid)
	}
	return nil, nil
}

func (c *call) dbusState() (any, error) {
	if _, err := c.guest(); err != nil {
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
	return strings.Join(sortedKeys(names), " ")
}

func (c *call) anyAgentCommand() (any, error) {
	name := c.text("command")
	for _, cmd := range agentCommands {
		if cmd.name == name {
			delete(c.params, "command")
			return c.agent(cmd)
		}
	}
	return nil, fail("no such command '%s'", name)
}
