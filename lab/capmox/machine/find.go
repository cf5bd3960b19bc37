package machine

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/google/uuid"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/log"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
)

var (
	errVMNotFound       = errors.New("vm not found")
	errVMNotInitialized = errors.New("vm not initialized")
)

// ensureVM finds the machine's VM, or starts cloning it.
func (s *scope) ensureVM(ctx context.Context) (bool, error) {
	switch s.reason() {
	case clusterv1.WaitingForClusterInfrastructureReadyReason, clusterv1.WaitingForBootstrapDataReason:
		s.state(infrav1.CloningReason, "")
	default:
		if !conditions.Has(s.infraMachine, infrav1.VirtualMachineProvisionedCondition) {
			s.state(infrav1.CloningReason, "")
		}
	}
	if s.vmid() <= 0 {
		return true, s.create(ctx)
	}
	if err := s.find(ctx); err != nil {
		return false, err
	}
	s.infraMachine.Spec.ProviderID = "proxmox://" + smbiosUUID(s.vm.Config)
	return false, nil
}

// find reads the VM from the node it is believed to be on. A VM that is not there is looked for on all
// nodes, and the next reconcile reads it from the node it was found on.
func (s *scope) find(ctx context.Context) error {
	vm, err := s.proxmox.VM(ctx, s.node(), s.vmid())
	if err != nil {
		log.FromContext(ctx).Info("unable to find the VM where it was", "node", s.node(), "reason", err.Error())
		if err := s.relocate(ctx); err != nil {
			return fmt.Errorf("error trying to locate vm: %w", err)
		}
		return errVMNotFound
	}
	if vm.Name != s.infraMachine.Name {
		return errVMNotInitialized
	}
	s.vm = vm
	return nil
}

// relocate notes the node the VM is on now.
func (s *scope) relocate(ctx context.Context) error {
	node, err := s.proxmox.WhereIs(ctx, s.vmid())
	if err != nil {
		return err
	}
	vm, err := s.proxmox.VM(ctx, node, s.vmid())
	if err != nil {
		return fmt.Errorf("unable to find vm with id %d: %w", s.vmid(), err)
	}
	name := s.infraMachine.Name
	switch vm.Config["name"] {
	case name:
	case "":
		return errors.New("vm exists but does not have a name yet")
	default:
		err := fmt.Errorf("expected VM name to match %q but it was %q", vm.Name, name)
		s.state(infrav1.VMProvisionFailedReason, err.Error())
		return err
	}
	s.infraMachine.Status.ProxmoxNode = ptr.To(node)
	if s.infraCluster.Locate(name, node, s.role()) {
		return s.saveCluster.Patch(ctx)
	}
	return nil
}

var uuidOption = regexp.MustCompile(`(?:^|,)uuid=([0-9a-fA-F-]+)`)

// smbiosUUID is the UUID the VM shows its system, in lower case; "" when there is none.
func smbiosUUID(c calls.Config) string {
	m := uuidOption.FindStringSubmatch(c["smbios1"])
	if m == nil {
		return ""
	}
	id, err := uuid.Parse(m[1])
	if err != nil {
		return ""
	}
	return id.String()
}
