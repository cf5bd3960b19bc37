// Package inside is what happens inside virtual machines, as the simulator asks for it.
package inside

import (
	"context"
	"encoding/json"
	"errors"
)

// Guests decides what happens inside a virtual machine: the simulator switches it on and off and passes on what the
// API asks of its guest agent. Implementations must be safe for concurrent use.
type Guests interface {
	// Start powers the machine on. It returns at once; a machine that does not boot is not an error.
	Start(ctx context.Context, vm Guest) error
	// Stop powers the machine off, also before it is destroyed.
	Stop(ctx context.Context, vm Guest)
	// Destroy forgets the machine and its disks.
	Destroy(ctx context.Context, vm Guest)
	// Agent passes one command to the guest agent; ErrAgentNotRunning while none answers.
	Agent(ctx context.Context, vm Guest, call AgentCall) (AgentReply, error)
}

// ErrAgentNotRunning is what Guests.Agent returns while no agent answers, for example during boot. The API then says
// "QEMU guest agent is not running".
var ErrAgentNotRunning = errors.New("QEMU guest agent is not running")

// Guest is a virtual machine as its inside sees it.
type Guest struct {
	VMID      int      `json:"vmid"`
	Name      string   `json:"name"`
	Node      string   `json:"node"`
	UUID      string   `json:"uuid"`          // of smbios1; the provider ID of a Kubernetes node is made from it
	MACs      []string `json:"macs"`          // net0 first, upper case
	Cores     int      `json:"cores"`         // sockets times cores
	MemoryMiB int      `json:"memoryMiB"`     // MiB
	Tags      []string `json:"tags"`          // such as kubeadm-v1.36.3, inherited from the template: what is on the disk
	ISO       []byte   `json:"iso,omitempty"` // content of the medium in its CD drive, nil without one
}

// AgentCall is one command to the guest agent.
type AgentCall struct {
	// Command as in the API's path: "ping", "get-osinfo", "exec", "exec-status", "network-get-interfaces", "file-read" and so on.
	Command string `json:"command"`
	// Args are the call's parameters under their API names, for exec "command" ([]string) and "input-data".
	Args map[string]any `json:"args,omitempty"`
}

// AgentReply is what the agent answers: for exec {"pid": 7}, for exec-status {"exited": 1, "exitcode": 0, "out-data":
// "..."}, for the others what the API carries below "result".
type AgentReply struct {
	Result json.RawMessage `json:"result"`
}

// AgentError is an error that the agent itself reports; the API shows it as "Agent error: <text>", or below
// result.error for commands that only read.
type AgentError struct {
	Class, Desc string
}

// Error is what the agent says of it.
func (e *AgentError) Error() string { return e.Desc }
