package machine

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/status"
)

// scope is what one reconcile knows. All but vm is set by gather; vm by the stage ensureVM.
type scope struct {
	*Reconciler
	capi         *clusterv1.Cluster
	machine      *clusterv1.Machine
	infraCluster *infrav1.ProxmoxCluster
	infraMachine *infrav1.ProxmoxMachine
	saveCluster  *status.Patcher
	saveMachine  *status.Patcher
	proxmox      *calls.Client
	vm           *calls.VM
}

func (r *Reconciler) newScope(ctx context.Context, capi *clusterv1.Cluster, owner *clusterv1.Machine, infraCluster *infrav1.ProxmoxCluster, infraMachine *infrav1.ProxmoxMachine) (*scope, error) {
	s := &scope{Reconciler: r, capi: capi, machine: owner, infraCluster: infraCluster, infraMachine: infraMachine}
	var err error
	if s.saveCluster, err = status.NewPatcher(r.Client, infraCluster, infrav1.ProxmoxAvailableCondition); err != nil {
		return nil, err
	}
	if s.proxmox, err = r.Sessions.For(ctx, infraCluster); err != nil {
		return nil, fmt.Errorf("error getting infra provider cluster or control plane object: %w", err)
	}
	s.saveMachine, err = status.NewPatcher(r.Client, infraMachine, infrav1.VirtualMachineProvisionedCondition)
	return s, err
}

// reason is the state of the state machine.
func (s *scope) reason() string {
	return conditions.GetReason(s.infraMachine, infrav1.VirtualMachineProvisionedCondition)
}

// state sets the state of the state machine.
func (s *scope) state(reason, message string) {
	conditions.Set(s.infraMachine, metav1.Condition{
		Type: infrav1.VirtualMachineProvisionedCondition, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	})
}

// finish says that the machine is ready.
func (s *scope) finish() {
	m := s.infraMachine
	if m.Labels == nil {
		m.Labels = map[string]string{}
	}
	m.Labels[infrav1.ZoneLabel] = infrav1.DefaultZone
	m.Status.VMStatus = ptr.To(infrav1.VMReady)
	m.Status.Initialization.Provisioned = ptr.To(true)
	conditions.Set(m, metav1.Condition{
		Type: infrav1.VirtualMachineProvisionedCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ProvisionedReason,
	})
}

// failedForGood says whether the machine is in the state that capmox never leaves.
func (s *scope) failedForGood() bool {
	return s.reason() == infrav1.VMProvisionFailedReason
}

// notYet names what the machine has to wait for before anything is done; "" when nothing.
func (s *scope) notYet() string {
	switch {
	case !ptr.Deref(s.capi.Status.Initialization.InfrastructureProvisioned, false):
		return clusterv1.WaitingForClusterInfrastructureReadyReason
	case s.machine.Spec.Bootstrap.DataSecretName == nil:
		return clusterv1.WaitingForBootstrapDataReason
	}
	return ""
}

func (s *scope) role() infrav1.Role { return infrav1.Role(util.IsControlPlaneMachine(s.machine)) }

// vmid is -1 as long as there is no VM.
func (s *scope) vmid() int64 { return ptr.Deref(s.infraMachine.Spec.VirtualMachineID, -1) }

// node is where the VM was put or last found, as far as known.
func (s *scope) node() string {
	if n := s.infraMachine.Status.ProxmoxNode; n != nil {
		return *n
	}
	if n := s.infraCluster.NodeOf(s.infraMachine.Name, s.role()); n != "" {
		return n
	}
	return ptr.Deref(s.infraMachine.Spec.SourceNode, "")
}

func (s *scope) provisioned() bool {
	return ptr.Deref(s.infraMachine.Status.Initialization.Provisioned, false)
}

func (s *scope) follow(task calls.UPID) { s.infraMachine.Status.TaskRef = ptr.To(string(task)) }
