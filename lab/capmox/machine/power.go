package machine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
)

// powerOn starts the VM and follows the task; a VM that runs already moves the state on. A refused call
// moves it to PoweringOnFailed, in which no stage acts.
func (s *scope) powerOn(ctx context.Context) (bool, error) {
	if s.reason() != infrav1.WaitingForVMPowerUpReason {
		return false, nil
	}
	verb := ""
	switch {
	case s.vm.Paused():
		verb = "resume"
	case s.vm.Stopped():
		verb = "start"
	}
	if verb == "" {
		s.state(infrav1.WaitingForClusterAPIMachineAddressesReason, "")
		return false, nil
	}
	task, err := s.proxmox.Power(ctx, s.vm, verb)
	if err != nil {
		err = fmt.Errorf("unable to %s the virtual machine %d: %w", verb, s.vm.ID, err)
		s.state(infrav1.PoweringOnFailedReason, err.Error())
		return false, err
	}
	s.follow(task)
	return true, nil
}

// awaitCloudInit waits for the guest agent, and through it for cloud-init.
func (s *scope) awaitCloudInit(ctx context.Context) (bool, error) {
	if s.reason() != infrav1.WaitingForCloudInitReason {
		return false, nil
	}
	checks := ptr.Deref(s.infraMachine.Spec.Checks, infrav1.ProxmoxMachineChecks{})
	skipAgent := ptr.Deref(checks.SkipQemuGuestAgent, false)
	if !skipAgent {
		if err := s.proxmox.WaitForAgent(ctx, s.vm); err != nil {
			return true, fmt.Errorf("error waiting for agent: %w", err)
		}
	}
	if !skipAgent && !ptr.Deref(checks.SkipCloudInitStatus, false) {
		running, err := s.proxmox.CloudInitRunning(ctx, s.vm)
		if errors.Is(err, calls.ErrCloudInitFailed) {
			s.state(infrav1.VMProvisionFailedReason, err.Error())
		}
		if err != nil || running {
			return running, err
		}
	}
	s.state(infrav1.WaitingForBootstrapReadyReason, "")
	return false, nil
}

// deleteVM deletes the VM; once its VMID is free, or Proxmox VE says that it "does not exist" (which it
// also says of a VM that has moved to another node), the machine is let go.
func (s *scope) deleteVM(ctx context.Context) error {
	err := s.proxmox.Delete(ctx, s.node(), s.vmid())
	switch {
	case err == nil:
		return nil
	case errors.Is(err, calls.ErrVMIDFree), strings.Contains(err.Error(), "does not exist"):
		s.infraCluster.Forget(s.infraMachine.Name, s.role())
		controllerutil.RemoveFinalizer(s.infraMachine, infrav1.MachineFinalizer)
		return s.saveCluster.Patch(ctx)
	}
	s.state(infrav1.DeletionFailedReason, "")
	return err
}
