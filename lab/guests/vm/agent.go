package vm

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// AgentError is an error that the guest agent itself reports.
type AgentError struct{ Class, Desc string }

// Error implements error.
func (e *AgentError) Error() string { return e.Desc }

func refuse(format string, args ...any) error {
	return &AgentError{Class: "GenericError", Desc: fmt.Sprintf(format, args...)}
}

// execution is a command that has run, until its status is asked for.
type execution struct {
	code        int
	out, errOut string
}

// maxExecutions bounds the results that nobody asked for.
const maxExecutions = 64

type commands struct {
	last    int
	results map[int]execution
}

// Agent answers a command of the hypervisor to the guest agent: what Proxmox VE's API shows below "result" for most, and
// the whole answer for exec and exec-status. ErrAgentNotRunning while nothing answers in the machine.
//
// Upstream: https://www.qemu.org/docs/master/interop/qemu-ga-ref.html
func (m *Machines) Agent(_ context.Context, g Guest, command string, args map[string]any) (any, error) {
	vm := m.find(g)
	if vm == nil {
		return nil, ErrAgentNotRunning
	}
	vm.mu.Lock()
	defer vm.mu.Unlock()
	if !vm.agent || vm.power == nil {
		return nil, ErrAgentNotRunning
	}
	answer, ok := agentCommands[command]
	if !ok {
		return nil, &AgentError{Class: "CommandNotFound", Desc: "The command " + command + " has not been found"}
	}
	return answer(vm, args)
}

// agentCommands are called with the machine locked.
var agentCommands = map[string]func(vm *machine, args map[string]any) (any, error){
	"ping":       func(*machine, map[string]any) (any, error) { return struct{}{}, nil },
	"get-osinfo": func(vm *machine, _ map[string]any) (any, error) { return osInfo(), nil },
	"get-host-name": func(vm *machine, _ map[string]any) (any, error) {
		return map[string]string{"host-name": vm.hostName()}, nil
	},
	"network-get-interfaces": func(vm *machine, _ map[string]any) (any, error) { return vm.networkInterfaces(), nil },
	"exec":                   (*machine).exec,
	"exec-status":            (*machine).execStatus,
	"file-read":              (*machine).fileRead,
}

func osInfo() map[string]string {
	return map[string]string{
		"id": "debian", "name": "Debian GNU/Linux", "pretty-name": "Debian GNU/Linux 13 (trixie)", "version": "13 (trixie)",
		"version-id": "13", "kernel-release": "6.12.0-amd64", "kernel-version": "#1 SMP PREEMPT_DYNAMIC", "machine": "x86_64",
	}
}

func (vm *machine) hostName() string {
	if vm.data.meta != nil && vm.data.meta.LocalHostname != "" {
		return vm.data.meta.LocalHostname
	}
	return vm.guest.Name
}

// networkInterface is how the agent describes a network card.
type networkInterface struct {
	Name      string      `json:"name"`
	MAC       string      `json:"hardware-address"`
	Addresses []ipAddress `json:"ip-addresses"`
}

type ipAddress struct {
	Address string `json:"ip-address"`
	Type    string `json:"ip-address-type"` // ipv4 or ipv6
	Prefix  int    `json:"prefix"`
}

func (vm *machine) networkInterfaces() []networkInterface {
	list := []networkInterface{{
		Name: "lo", MAC: "00:00:00:00:00:00", Addresses: []ipAddress{{"127.0.0.1", "ipv4", 8}, {"::1", "ipv6", 128}},
	}}
	for _, i := range vm.data.interfaces {
		card := networkInterface{Name: i.Name, MAC: strings.ToLower(i.MAC), Addresses: []ipAddress{}}
		for _, prefix := range i.Addresses {
			kind := "ipv6"
			if prefix.Addr().Is4() {
				kind = "ipv4"
			}
			card.Addresses = append(card.Addresses, ipAddress{prefix.Addr().String(), kind, prefix.Bits()})
		}
		list = append(list, card)
	}
	return list
}

// exec runs a command and keeps its result for exec-status, under a process ID.
func (vm *machine) exec(args map[string]any) (any, error) {
	words := commandWords(args["command"])
	if len(words) == 0 {
		return nil, refuse("Guest agent command failed: no command given")
	}
	if vm.commands.results == nil {
		vm.commands = commands{last: 1000, results: map[int]execution{}}
	}
	vm.commands.last++
	pid := vm.commands.last
	delete(vm.commands.results, pid-maxExecutions)
	vm.commands.results[pid] = vm.execute(words)
	return map[string]int{"pid": pid}, nil
}

// commandWords reads a command given as a list, or as one word.
func commandWords(value any) []string {
	switch command := value.(type) {
	case string:
		return strings.Fields(command)
	case []string:
		return command
	case []any:
		var words []string
		for _, word := range command {
			words = append(words, fmt.Sprint(word))
		}
		return words
	}
	return nil
}

// execute knows the few commands that anybody asks a machine for.
func (vm *machine) execute(words []string) execution {
	switch {
	case len(words) >= 2 && words[0] == "cloud-init" && words[1] == "status":
		return vm.cloudInitStatus()
	case len(words) == 2 && words[0] == "cat":
		content, err := vm.files.Read(words[1])
		if err != nil {
			return execution{code: 1, errOut: "cat: " + words[1] + ": No such file or directory\n"}
		}
		return execution{out: string(content)}
	case words[0] == "hostname":
		return execution{out: vm.hostName() + "\n"}
	}
	return execution{code: 127, errOut: words[0] + ": not found\n"}
}

// cloudInitStatus answers as `cloud-init status` does. Upstream:
// https://cloudinit.readthedocs.io/en/latest/explanation/failure_states.html
func (vm *machine) cloudInitStatus() execution {
	code := 0
	if vm.state == Failed {
		code = 1
	}
	return execution{code: code, out: "status: " + string(vm.state) + "\n"}
}

// execStatus hands a result out once; the agent then forgets the process.
func (vm *machine) execStatus(args map[string]any) (any, error) {
	pid, err := strconv.Atoi(fmt.Sprint(args["pid"]))
	if err != nil {
		return nil, refuse("Invalid parameter 'pid'")
	}
	result, ok := vm.commands.results[pid]
	if !ok {
		return nil, refuse("PID %d does not exist", pid)
	}
	delete(vm.commands.results, pid)
	status := map[string]any{"exited": 1, "exitcode": result.code}
	if result.out != "" {
		status["out-data"] = result.out
	}
	if result.errOut != "" {
		status["err-data"] = result.errOut
	}
	return status, nil
}

func (vm *machine) fileRead(args map[string]any) (any, error) {
	name := fmt.Sprint(args["file"])
	content, err := vm.files.Read(name)
	if err != nil {
		return nil, refuse("failed to open file '%s' (mode: 'r'): No such file or directory", name)
	}
	return map[string]any{"content": string(content), "bytes-read": len(content)}, nil
}
