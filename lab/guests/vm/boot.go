package vm

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"kubehenge.dev/lab/guests/kubeadm"
	"kubehenge.dev/lab/guests/nocloud"
)

// outputLog is where cloud-init keeps what the commands of runcmd said.
const outputLog = "/var/log/cloud-init-output.log"

// boot is a machine's life from power on until it has nothing more to do by itself. It ends early at power off.
func (m *Machines) boot(ctx context.Context, vm *machine) {
	guest := vm.guestCopy()
	log := m.options.Log.With("vmid", guest.VMID, "name", guest.Name)
	if !m.wait(ctx, m.options.Times.Boot) {
		return
	}
	if vm.configured() {
		m.bootAgain(ctx, vm, log)
		return
	}
	data, err := readMedium(guest)
	if err != nil {
		vm.set(func() { vm.reason = "does not boot: " + err.Error() })
		log.Warn("machine does not boot", "error", err)
		return
	}
	vm.set(func() { vm.agent, vm.state, vm.data = true, Running, data })
	log.Info("machine has booted", "instance", data.meta.InstanceID, "address", data.address())
	m.configure(ctx, vm, guest, log)
}

// bootAgain is the boot of a machine that cloud-init has configured before: its kubelet comes back.
func (m *Machines) bootAgain(ctx context.Context, vm *machine, log *slog.Logger) {
	vm.mu.Lock()
	vm.agent = true
	joined := vm.joined
	vm.mu.Unlock()
	if joined.Cluster == nil {
		return
	}
	if err := joined.Cluster.Started(ctx, joined.Node); err != nil {
		vm.set(func() { vm.reason = err.Error() })
		log.Error("node does not come back", "node", joined.Node, "error", err)
	}
}

// configure is cloud-init's work. A machine that is switched off meanwhile begins again at its next boot.
func (m *Machines) configure(ctx context.Context, vm *machine, guest Guest, log *slog.Logger) {
	result := m.runUserData(ctx, guest, vm.data)
	vm.mu.Lock()
	defer vm.mu.Unlock()
	vm.files, vm.joined = result.files, result.joined
	switch {
	case ctx.Err() != nil && result.joined.Cluster == nil:
		vm.state = NotRun
	case result.err != nil:
		vm.state, vm.reason = Failed, result.err.Error()
		log.Warn("cloud-init failed", "error", result.err)
	default:
		vm.state = Done
		log.Info("cloud-init is done", "cluster", result.clusterName(), "node", result.joined.Node)
	}
}

// outcome is what running the user-data led to.
type outcome struct {
	files  nocloud.Files
	joined kubeadm.Joined
	err    error
}

func (o outcome) clusterName() string {
	if o.joined.Cluster == nil {
		return ""
	}
	return o.joined.Cluster.Name()
}

// runUserData does what user-data says. As in a shell script without "set -e", which runcmd becomes, the last command
// decides whether it failed.
func (m *Machines) runUserData(ctx context.Context, guest Guest, data bootData) outcome {
	config, err := nocloud.DecodeUserData(data.user, data.meta)
	if err != nil {
		files := nocloud.Files{}
		files.Write(outputLog, []byte(err.Error()+"\n"))
		return outcome{files: files, err: err}
	}
	result := outcome{files: config.Files}
	host := newHost(guest, data, config.Files)
	var output bytes.Buffer
	for _, command := range config.Commands {
		parsed, ok := kubeadm.ParseCommand(command.Line)
		if !ok {
			fmt.Fprintf(&output, "not run by the simulation: %s\n", command.Line)
			result.err = nil
			continue
		}
		var joined kubeadm.Joined
		joined, result.err = m.runKubeadm(ctx, parsed, host)
		if joined.Cluster != nil {
			result.joined = joined
		}
		fmt.Fprintf(&output, "%s: %s\n", command.Line, okOr(result.err))
	}
	result.files.Write(outputLog, output.Bytes())
	return result
}

func okOr(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

func (m *Machines) runKubeadm(ctx context.Context, command kubeadm.Command, host kubeadm.Host) (kubeadm.Joined, error) {
	takes := m.options.Times.Join
	if command.Verb == "init" {
		takes = m.options.Times.Init
	}
	if !m.wait(ctx, takes) {
		return kubeadm.Joined{}, ctx.Err()
	}
	return m.kubeadm.Run(ctx, command, host)
}

func newHost(guest Guest, data bootData, files nocloud.Files) kubeadm.Host {
	name := data.meta.LocalHostname
	if name == "" {
		name = guest.Name
	}
	version := guest.kubernetesVersion()
	if version == "" {
		version = data.meta.KubernetesVersion
	}
	return kubeadm.Host{
		Name: name, SystemUUID: strings.ToLower(guest.UUID), Address: data.address(), Version: version,
		Cores: guest.Cores, MemoryMiB: guest.MemoryMiB, Files: files,
	}
}

// wait lets time pass; false means that the machine was switched off meanwhile.
func (m *Machines) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := m.options.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}
