package volumes

import (
	"context"
	"fmt"

	"kubehenge.dev/proxmox"
)

// reach has the owner VM on a node that reaches the volume, by moving it if need be. A move takes a while, in which a VM
// may have got the volume, so that is looked at again.
func (e *eraser) reach(ctx context.Context, v Volume) error {
	owner, err := findOwner(ctx, e.agent, e.cluster)
	if err != nil {
		return err
	}
	online, err := onlineNodes(ctx, e.agent)
	if err != nil {
		return err
	}
	if !online[owner.Node] {
		return waitForNodes([]string{owner.Node}, fmt.Sprintf("has VM %d, through which the cluster's volumes are deleted", owner.VMID))
	}
	if v.reachedFrom(owner.Node) {
		return nil
	}
	for _, node := range v.Nodes {
		if online[node] {
			if err := e.move(ctx, node); err != nil {
				return err
			}
			return e.seeDetached(ctx, v)
		}
	}
	return waitForNodes(v.Nodes, "has volume "+v.ID)
}

// move moves the owner VM. What hangs on it would go with it, or hold it, so there must be nothing.
func (e *eraser) move(ctx context.Context, to string) error {
	config, err := e.agent.Machines().Config(ctx, e.cluster.OwnerVMID)
	if err != nil {
		return err
	}
	for option, value := range config {
		if driveOption.MatchString(option) || unusedOption.MatchString(option) {
			return wrongOwner(e.cluster.OwnerVMID, fmt.Sprintf("it has %s as %s and cannot be moved with it; take it off", volumeOf(value), option))
		}
	}
	task, err := e.agent.Changes().Migrate(ctx, e.cluster.OwnerVMID, to)
	if err != nil {
		return err
	}
	e.users = nil // a move takes a while
	if _, err := e.agent.Tasks().Wait(ctx, task, nil); err != nil {
		return fmt.Errorf("move VM %d to node %s: %w", e.cluster.OwnerVMID, to, err)
	}
	owner, err := findOwner(ctx, e.agent, e.cluster)
	if err == nil && owner.Node != to {
		err = fmt.Errorf("VM %d was moved to node %s and is on node %s", owner.VMID, to, owner.Node)
	}
	return err
}

func onlineNodes(ctx context.Context, px Proxmox) (map[string]bool, error) {
	list, err := px.Nodes().List(ctx)
	if err != nil {
		return nil, err
	}
	online := make(map[string]bool, len(list))
	for _, n := range list {
		online[n.Name] = n.Online
	}
	return online, nil
}

var _ Proxmox = (*proxmox.Client)(nil)
