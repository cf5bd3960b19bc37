package appliance

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/agent/volumes"
	"kubehenge.dev/appliance/view/cluster"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/render/permission"
)

// volumesPatience is how long Proxmox VE may take to list volumes. Nobody has to know them to delete a cluster.
const volumesPatience = 5 * time.Second

// listVolumes asks Proxmox VE as the person, on the Fleet's storages alone: a call for each shared one, and one for each node's local ones.
func listVolumes(r *request) (any, error) {
	if _, err := r.look(); err != nil {
		return nil, err
	}
	claim := r.s.live.Claim(types.NamespacedName(r.cluster))
	if claim == nil && overlayOf(r.state, r.cluster) == nil {
		return nil, errNotVisible
	}
	if claim == nil {
		return cluster.UnknownVolumes(), nil
	}
	if claim.Status.Allocation == nil { // there never was a VM that could own any
		return cluster.VolumesOf(volumes.Survey{}, nil, permission.Answer{OK: true}), nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), volumesPatience)
	defer cancel()
	owner, storages := int(claim.Status.Allocation.VMIDs.End), r.state.Rendering.Fleet.Spec.Proxmox.Storages
	survey, err := volumes.LookAmong(ctx, r.session.Proxmox, owner, storages)
	var seeing permission.Answer
	if err == nil {
		seeing, err = r.seesVolumes(ctx, owner, storages)
	}
	if proxmox.Is(err, proxmox.Unauthorized) {
		return nil, err // the session is over
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return cluster.VolumesOf(survey, err, seeing), nil
}

// seesVolumes tells whether Proxmox VE shows the person the disks of a VM on all of the storages. It leaves out of a list what somebody may not see.
func (r *request) seesVolumes(ctx context.Context, vmid int, storages []string) (permission.Answer, error) {
	var needs []permission.Need
	why := fmt.Sprintf("seeing all volumes of %s", r.cluster)
	for _, s := range storages {
		all, err := r.holder.Answer(ctx, permission.Need{Privilege: permission.StorageAll, Path: "/storage/" + s, Why: why})
		if err != nil {
			return permission.Answer{}, err
		}
		if !all.OK {
			needs = append(needs, permission.Need{Privilege: permission.StorageAudit, Path: "/storage/" + s, Why: why})
		}
	}
	if len(needs) > 0 {
		needs = append(needs, permission.Need{Privilege: permission.ConfigureDisk, Path: fmt.Sprintf("/vms/%d", vmid), Why: why})
	}
	return r.holder.Answer(ctx, needs...)
}
