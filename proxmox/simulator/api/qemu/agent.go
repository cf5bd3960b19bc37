package qemu

import (
	"encoding/json"
	"errors"
	"strings"

	"kubehenge.dev/proxmox/access"
	"kubehenge.dev/proxmox/simulator/core"
	"kubehenge.dev/proxmox/simulator/inside"
)

// agentCommand is a command that the API passes to the guest agent.
type agentCommand struct {
	method, name string
	privilege    string // in 9.x; besides, VM.GuestAgent.Unrestricted allows all
	params       string
	direct       bool // the answer stands without "result" around it
}

const (
	audit      = "VM.GuestAgent.Audit"
	fileSystem = "VM.GuestAgent.FileSystemMgmt"
	free       = "VM.GuestAgent.Unrestricted"
)

// agentCommands is the table of them. Source: qemu-server src/PVE/API2/Qemu/Agent.pm.
var agentCommands = []agentCommand{
	{"POST", "ping", audit, "", false},
	{"GET", "get-osinfo", audit, "", false},
	{"GET", "get-host-name", audit, "", false},
	{"GET", "get-fsinfo", audit, "", false},
	{"GET", "get-memory-blocks", audit, "", false},
	{"GET", "get-memory-block-info", audit, "", false},
	{"GET", "get-time", audit, "", false},
	{"GET", "get-timezone", audit, "", false},
	{"GET", "get-users", audit, "", false},
	{"GET", "get-vcpus", audit, "", false},
	{"GET", "info", audit, "", false},
	{"GET", "network-get-interfaces", audit, "", false},
	{"POST", "fsfreeze-freeze", fileSystem, "", false},
	{"POST", "fsfreeze-thaw", fileSystem, "", false},
	{"POST", "fsfreeze-status", fileSystem + "|" + audit, "", false},
	{"POST", "fstrim", fileSystem, "", false},
	{"POST", "shutdown", "VM.PowerMgmt", "", false},
	{"POST", "suspend-disk", "VM.PowerMgmt", "", false},
	{"POST", "suspend-hybrid", "VM.PowerMgmt", "", false},
	{"POST", "suspend-ram", "VM.PowerMgmt", "", false},
	{"POST", "exec", "", "command* array; input-data string(..65536)", true},
	{"GET", "exec-status", "", "pid* int", true},
	{"POST", "set-user-password", "", "username* string; password* string(5..1024); crypted bool", false},
	{"GET", "file-read", "VM.GuestAgent.FileRead", "file* string; count int(1..16777216); offset int(0..); decode bool", true},
	{"POST", "file-write", "VM.GuestAgent.FileWrite", "file* string; content* string(..61440); encode bool", true},
}

// agentEndpoints pass commands to guest agents.
func agentEndpoints() []*core.Endpoint {
	list := []*core.Endpoint{core.On("GET /nodes/{node}/qemu/{vmid}/agent", core.Anyone, "", core.Index(agentNames()))}
	for _, cmd := range agentCommands {
		list = append(list, core.On(cmd.method+" /nodes/{node}/qemu/{vmid}/agent/"+cmd.name, agentAccess(cmd), cmd.params,
			func(c *core.Call) (any, error) { return agent(c, cmd) }))
	}
	return list
}

func agentNames() string {
	var names []string
	for _, cmd := range agentCommands {
		names = append(names, cmd.name)
	}
	return strings.Join(names, " ")
}

// agentAccess differs between the versions: 8.4 knows one privilege for all of it.
func agentAccess(cmd agentCommand) core.Guard {
	nine := free
	if cmd.privilege != "" {
		nine = cmd.privilege + "|" + free
	}
	return func(c *core.Call) error {
		if c.State.Version == access.V8 && cmd.privilege != "VM.PowerMgmt" {
			return c.Check("/vms/"+c.Text("vmid"), "VM.Monitor")
		}
		return c.Check("/vms/"+c.Text("vmid"), nine)
	}
}

// agent passes a command on, without the lock: the guest may take its time.
func agent(c *core.Call, cmd agentCommand) (any, error) {
	g, err := c.Guest()
	if err != nil {
		return nil, err
	}
	if _, configured := g.Conf["agent"]; !configured {
		return nil, core.Fail("No QEMU guest agent configured")
	}
	if g.State == core.Stopped {
		return nil, core.Fail("VM %d is not running", g.VMID)
	}
	if c.State.Inside == nil {
		return nil, errNoAgent
	}
	args := map[string]any{}
	for name, v := range c.Params {
		if _, inPath := c.URI[name]; !inPath {
			args[name] = v
		}
	}
	view := c.State.View(g)
	c.State.Mu.Unlock()
	reply, err := c.State.Inside.Agent(c.Context, view, inside.AgentCall{Command: cmd.name, Args: args})
	c.State.Mu.Lock()
	return agentAnswer(cmd, reply, err)
}

func agentAnswer(cmd agentCommand, reply inside.AgentReply, err error) (any, error) {
	var told *inside.AgentError
	switch {
	case errors.As(err, &told) && cmd.direct:
		return nil, core.Fail("Agent error: %s", told.Desc)
	case errors.As(err, &told):
		return core.Row{"result": core.Row{"error": core.Row{"class": told.Class, "desc": told.Desc}}}, nil
	case err != nil:
		return nil, errNoAgent
	}
	result := reply.Result
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	if cmd.direct {
		return result, nil
	}
	return core.Row{"result": result}, nil
}
