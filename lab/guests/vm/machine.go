package vm

import (
	"context"
	"sync"

	"kubehenge.dev/lab/guests/kubeadm"
	"kubehenge.dev/lab/guests/nocloud"
)

// State is how far cloud-init has come, in the words of `cloud-init status`.
type State string

// States of cloud-init.
const (
	NotRun  State = ""
	Running State = "running"
	Done    State = "done"
	Failed  State = "error"
)

// machine is one virtual machine with its disk.
type machine struct {
	uuid string

	// turn is held by who switches the machine on or off.
	turn sync.Mutex

	mu    sync.Mutex
	guest Guest
	gone  bool               // destroyed
	power context.CancelFunc // switches it off; nil while it is off
	ended chan struct{}      // closed when the last boot has come to its end
	agent bool               // the guest agent answers

	// What is on its disk.
	state  State
	reason string // why cloud-init failed, or the machine does not boot
	data   bootData
	files  nocloud.Files
	joined kubeadm.Joined

	commands commands
}

// set changes the machine.
func (vm *machine) set(change func()) {
	vm.mu.Lock()
	defer vm.mu.Unlock()
	change()
}

func (vm *machine) guestCopy() Guest {
	vm.mu.Lock()
	defer vm.mu.Unlock()
	return vm.guest
}

// configured says whether cloud-init has come to its end, so that it does not run again.
func (vm *machine) configured() bool {
	vm.mu.Lock()
	defer vm.mu.Unlock()
	return vm.state == Done || vm.state == Failed
}

// switchOff ends whatever runs in the machine, waits for it, and returns what it is part of.
func (vm *machine) switchOff() kubeadm.Joined {
	vm.mu.Lock()
	if vm.power != nil {
		vm.power()
		vm.power = nil
	}
	ended := vm.ended
	vm.mu.Unlock()
	if ended != nil {
		<-ended
	}
	vm.mu.Lock()
	defer vm.mu.Unlock()
	vm.agent = false
	return vm.joined
}
