package simulator

import "kubehenge.dev/proxmox/simulator/inside"

// Guests decides what happens inside virtual machines.
type Guests = inside.Guests

// Guest is a virtual machine as its inside sees it.
type Guest = inside.Guest

// AgentCall is one command to the guest agent.
type AgentCall = inside.AgentCall

// AgentReply is what the guest agent answers.
type AgentReply = inside.AgentReply

// AgentError is an error that the guest agent itself reports.
type AgentError = inside.AgentError

// ErrAgentNotRunning is what Guests.Agent returns while no agent answers.
var ErrAgentNotRunning = inside.ErrAgentNotRunning
