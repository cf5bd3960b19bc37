package simulator

import (
	"encoding/json"
	"errors"
	"strings"

	"kubehenge.dev/proxmox/access"
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
func agentEndpoints() []*endpoint {
	list := []*endpoint{on("GET /nodes/{node}/qemu/{vmid}/agent", anyone, "", index(agentNames()))}
	for _, cmd := range agentCommands {
		list = append(list, on(cmd.method+" /nodes/{node}/qemu/{vmid}/agent/"+cmd.name, agentAccess(cmd), cmd.params,
			func(c *call) (any, error) { return c.agent(cmd) }))
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
func agentAccess(cmd agentCommand) guard {
	nine := free
	if cmd.privilege != "" {
		nine = cmd.privilege + "|" + free
	}
	return func(c *call) error {
		if c.s.version == access.V8 && cmd.privilege != "VM.PowerMgmt" {
			return c.check("/vms/"+c.text("vmid"), "VM.Monitor")
		}
		return c.check("/vms/"+c.text("vmid"), nine)
	}
}

// agent passes a command on, without the lock: the guest may take its time.
func (c *call) agent(cmd agentCommand) (any, error) {
	g, err := c.guest()
	if err != nil {
		return nil, err
	}
	if _, configured := g.conf["agent"]; !configured {
		return nil, fail("No QEMU guest agent configured")
	}
	if g.state == stopped {
		return nil, fail("VM %d is not running", g.vmid)
	}
	if c.s.inside == nil {
		return nil, errNoAgent
	}
	args := map[string]any{}
	for name, v := range c.params {
		if _, inPath := c.uri[name]; !inPath {
			args[name] = v
		}
	}
	view := c.s.view(g)
	c.s.mu.Unlock()
	reply, err := c.s.inside.Agent(c.ctx, view, AgentCall{Command: cmd.name, Args: args})
	c.s.mu.Lock()
	return agentAnswer(cmd, reply, err)
}

func agentAnswer(cmd agentCommand, reply AgentReply, err error) (any, error) {
	var told *AgentError
	switch {
	case errors.As(err, &told) && cmd.direct:
		return nil, fail("Agent error: %s", told.Desc)
	case errors.As(err, &told):
		return row{"result": row{"error": row{"class": told.Class, "desc": told.Desc}}}, nil
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
	return row{"result": result}, nil
}
