package agent

import (
	"context"
	"errors"
	"fmt"

	"kubehenge.dev/agent/corner"
	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/proxmox"
)

// addVolumes has released volumes deleted, with each cluster's own token, and prepares what deletes all of a cluster's
// with the agent's when it goes.
func (p *parts) addVolumes(context.Context) error {
	ca, err := optionalFile(p.options.ProxmoxCAFile)
	if err != nil {
		return fmt.Errorf("read --proxmox-ca-file: %w", err)
	}
	locks := &volumes.Locks{}
	p.volumes = drainer{&volumes.Drainer{Agent: p.proxmox, Locks: locks}}
	return p.manager.Add(&volumes.Releaser{
		Agent: p.proxmox, Claims: p.manager.GetClient(), Secrets: p.manager.GetAPIReader(), Fleet: p.store.Fleet, Board: p.board,
		Locks: locks, Clock: p.clock, Every: p.options.VolumesEvery,
		Connect: func(t volumes.Token) (volumes.Proxmox, error) {
			return proxmox.Connect(proxmox.Options{
				URL: p.options.ProxmoxURL, TokenID: t.ID, Secret: t.Secret, CA: ca, OnCall: p.metrics.proxmoxCall,
			})
		},
	})
}

// drainer is what package corner asks before an owner VM goes.
type drainer struct{ *volumes.Drainer }

// Release implements corner.Volumes. Where the owner VM is gone already, nothing is left that could be deleted.
func (d drainer) Release(ctx context.Context, o corner.Owner) error {
	err := d.Drain(ctx, volumes.Cluster{NamespacedName: o.Cluster, WorkloadPool: o.WorkloadPool, OwnerVMID: o.VMID})
	if errors.Is(err, volumes.ErrNoOwner) {
		return nil
	}
	return err
}
