package remedy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/proxmox"
)

// joinLimit is how long a VM may run before its node has joined. Cluster API's own health check waits twenty minutes.
const joinLimit = 10 * time.Minute

// ailment is a named state that the provider never leaves by itself. How capmox gets there is told in each.
type ailment struct {
	name string
	// after is how long it must have been seen without a break: what lasts shorter may be on its way.
	after time.Duration
	// seen is what the machine suffers from, to follow its name; empty when this is not it.
	seen func(m *machines.Machine, g guest) string
}

// guest is a machine's VM as Proxmox VE's list has it.
type guest struct {
	proxmox.Machine
	listed bool
}

// ailments are asked in this order; the first that is seen counts. They concern machines that have not joined and
// that nobody deletes. Proxmox VE's list is up to twenty seconds old, so that what it alone says must last a minute.
var ailments = []ailment{
	// VMProvisionFailed is capmox's end of the road: no template, no storage for ISOs, no VMID, cloud-init's error.
	{"given up", 0, func(m *machines.Machine, _ guest) string {
		if m.VM.Reason != "VMProvisionFailed" {
			return ""
		}
		return "cannot be built: " + status.ExplainProvider(m.VM.Message)
	}},
	// After a task that failed, capmox waits a minute and then says "invalid state" for ever (task.go, vm.go).
	{"task failed", 30 * time.Second, func(m *machines.Machine, _ guest) string {
		if m.VM.Reason != "TaskFailed" {
			return ""
		}
		return "had a task fail, after which the provider does nothing more: " + status.ExplainProvider(m.VM.Message)
	}},
	// A start call that was refused leads to PoweringOnFailed, in which no stage acts; a start task that failed is
	// noted and, at best, tried again on the same node.
	{"start failed", 90 * time.Second, func(m *machines.Machine, g guest) string {
		refused := m.VM.Reason == "PoweringOnFailed"
		failed := m.VM.Reason == "WaitingForVMPowerUp" && strings.Contains(m.VM.Message, "qmstart")
		if !g.stopped() || !refused && !failed {
			return ""
		}
		return "cannot be started: " + status.ExplainProvider(m.VM.Message)
	}},
	// A first try that failed, if only because one node was silent, leaves CloningFailed standing though a later
	// clone succeeds: no stage configures or starts that VM, and it is taken for ready.
	{"never configured", time.Minute, func(m *machines.Machine, g guest) string {
		if m.VM.Reason != "CloningFailed" || !g.stopped() || g.Lock != "" || m.VM.Busy {
			return ""
		}
		return "was cloned at a second try, and the provider does not go on with it"
	}},
	{"ready without address", time.Minute, func(m *machines.Machine, g guest) string {
		if !m.VM.Provisioned || m.VM.Addressed || !g.stopped() {
			return ""
		}
		return "is taken for ready by the provider, but has no address and does not run"
	}},
	// These states come after the start; the provider then asks the guest agent of a VM that is off, for ever.
	{"off after its start", time.Minute, func(m *machines.Machine, g guest) string {
		if !started(m) || !g.stopped() || m.VM.Busy {
			return ""
		}
		return "was started and does not run"
	}},
	{"VM gone", time.Minute, func(m *machines.Machine, g guest) string {
		if m.VM.ID == 0 || g.listed || m.VM.Busy || slices.Contains([]string{"", "Cloning", "CloningFailed"}, m.VM.Reason) {
			return ""
		}
		return fmt.Sprintf("has lost its VM: Proxmox VE does not show VM %d", m.VM.ID)
	}},
	{"never joined", joinLimit, func(m *machines.Machine, g guest) string {
		if !started(m) || g.Status != "running" {
			return ""
		}
		return fmt.Sprintf("has run for %d minutes without joining: its console tells more", int(joinLimit.Minutes()))
	}},
}

func (g guest) stopped() bool { return g.listed && g.Status == "stopped" }

// started is true once the provider has started the VM.
func started(m *machines.Machine) bool {
	return m.VM.Done || m.VM.Provisioned ||
		slices.Contains([]string{"WaitingForClusterAPIMachineAddresses", "WaitingForCloudInit", "WaitingForBootstrapReady"}, m.VM.Reason)
}

// patient is a machine with what it suffers from.
type patient struct {
	*machines.Machine
	ailment  string
	sentence string
	since    time.Time
}

// diagnose is the first ailment that is seen now, whether or not it has lasted; nil when the machine is well.
func diagnose(m *machines.Machine, g guest) (*ailment, string) {
	if m.Joined || !m.Staying() || m.VM.Name == "" {
		return nil, ""
	}
	for i := range ailments {
		if s := ailments[i].seen(m, g); s != "" {
			return &ailments[i], s
		}
	}
	return nil, ""
}
