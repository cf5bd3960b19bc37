package machine

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
)

var errNoVMIDFree = errors.New("No free vmid found in vmIDRange") //nolint:staticcheck // capmox's text

// terminalCauses end a machine for good when its VM cannot be made; every other error is CloningFailed and
// tried again.
var terminalCauses = []func(error) bool{
	func(err error) bool { return errors.Is(err, errNoVMIDFree) },
	func(err error) bool { return errors.Is(err, calls.ErrTemplateNotFound) },
	func(err error) bool { var m *insufficientMemory; return errors.As(err, &m) },
}

// create starts cloning the template. A machine whose first try failed keeps the state CloningFailed
// although a later one succeeds, and no stage acts in that state.
func (s *scope) create(ctx context.Context) error {
	id, task, err := s.clone(ctx)
	if err != nil {
		reason := infrav1.CloningFailedReason
		for _, terminal := range terminalCauses {
			if terminal(err) {
				reason = infrav1.VMProvisionFailedReason
			}
		}
		s.state(reason, err.Error())
		return err
	}
	s.follow(task)
	s.infraMachine.Spec.VirtualMachineID = ptr.To(id)
	return nil
}

// clone chooses VMID, node and template, in this order, and makes the clone call.
func (s *scope) clone(ctx context.Context) (int64, calls.UPID, error) {
	spec := &s.infraMachine.Spec
	id, err := s.chooseVMID(ctx)
	if err != nil {
		return 0, "", err
	}
	request := calls.Clone{
		Node:        ptr.Deref(spec.SourceNode, ""),
		TemplateID:  int64(ptr.Deref(spec.TemplateID, -1)),
		NewID:       id,
		Name:        s.infraMachine.Name,
		Description: ptr.Deref(spec.Description, ""),
		Format:      ptr.Deref(spec.Format, ""),
		Full:        ptr.Deref(spec.Full, true),
		Pool:        ptr.Deref(spec.Pool, ""),
		SnapName:    ptr.Deref(spec.SnapName, ""),
		Storage:     ptr.Deref(spec.Storage, ""),
	}
	if allowed := s.allowedNodes(); len(allowed) > 0 {
		if request.Target, err = s.schedule(ctx, allowed); err != nil {
			return 0, "", err
		}
	}
	if selector := spec.TemplateSelector; request.TemplateID == -1 && selector != nil {
		policy := selector.MatchPolicy
		if policy == "" {
			policy = infrav1.MatchExact
		}
		if request.Node, request.TemplateID, err = s.proxmox.FindTemplate(ctx, selector.MatchTags, policy); err != nil {
			return 0, "", err
		}
	}
	newID, task, err := s.proxmox.Clone(ctx, request)
	if err != nil {
		return 0, "", err
	}
	return newID, task, s.place(ctx, request)
}

// place notes the node the VM is put on. When that cannot be saved the VM is lost to us, as it is to capmox.
func (s *scope) place(ctx context.Context, request calls.Clone) error {
	node := request.Target
	if node == "" {
		node = request.Node
	}
	s.infraMachine.Status.ProxmoxNode = ptr.To(node)
	if s.infraCluster.NodeOf(request.Name, s.role()) == "" {
		s.infraCluster.Locate(request.Name, node, s.role())
	}
	return s.saveCluster.Patch(ctx)
}

// chooseVMID asks for each VMID of the range that none of the cluster's machines has, until one is free;
// 0 leaves the choice to Proxmox VE.
func (s *scope) chooseVMID(ctx context.Context) (int64, error) {
	r := s.infraMachine.Spec.VMIDRange
	if r == nil || r.Start == 0 || r.End == 0 {
		return 0, nil
	}
	machines := &infrav1.ProxmoxMachineList{}
	err := s.Client.List(ctx, machines, client.InNamespace(s.capi.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: s.capi.Name})
	if err != nil {
		return 0, fmt.Errorf("list the machines of %s/%s: %w", s.capi.Namespace, s.capi.Name, err)
	}
	used := map[int64]bool{}
	for _, m := range machines.Items {
		used[ptr.Deref(m.Spec.VirtualMachineID, -1)] = true
	}
	for id := r.Start; id <= r.End; id++ {
		if used[id] {
			continue
		}
		free, err := s.proxmox.Free(ctx, id)
		if err != nil {
			return 0, err
		}
		if free {
			return id, nil
		}
	}
	return 0, errNoVMIDFree
}
