package appliance

import (
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/view/capacity"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/appliance/wire"
	"kubehenge.dev/render/permission"
)

// showCapacity asks Proxmox VE as the person, so that it shows what it would show them itself.
func showCapacity(r *request) (any, error) {
	place, err := r.look()
	if err != nil {
		return nil, err
	}
	all, err := r.session.Proxmox.Capacity(r.Context())
	if err != nil {
		return nil, err
	}
	spec := &r.state.Rendering.Fleet.Spec
	clusters := capacity.Clusters{WorkloadPool: spec.Proxmox.WorkloadPool, Storage: map[string]string{}, Default: spec.Proxmox.Storages[0]}
	for _, o := range r.state.Rendering.Overlays {
		if o.Claim != nil {
			clusters.Storage[v1alpha1.ClusterTag(o.Namespace, o.Name)] = o.Claim.Spec.Storage
		}
	}
	v := capacity.New(all, clusters)
	if v.Usage, err = r.usage(place); err != nil {
		return nil, err
	}
	v.Networks, v.Stale = fleet.Networks(spec, r.state.Rendering.Overlays, r.s.live.Claims()), r.s.live.Stale()
	return v, nil
}

// usage is what the clusters take that the person may see.
func (r *request) usage(place permission.Place) ([]capacity.Usage, error) {
	var seen []*v1alpha1.ClusterClaim
	for _, o := range r.state.Rendering.Overlays {
		if o.Claim == nil {
			continue
		}
		sees, err := r.holder.Answer(r.Context(), place.See(o.Namespace, o.Name))
		if err != nil {
			return nil, err
		}
		if sees.OK {
			seen = append(seen, o.Claim)
		}
	}
	return capacity.UsageOf(&r.state.Rendering.Fleet.Spec, seen), nil
}

// mostTasks is how many tasks are shown at most.
const mostTasks = 50

func listTasks(r *request) (any, error) {
	tasks, err := r.session.Proxmox.RecentTasks(r.Context())
	if err != nil {
		return nil, err
	}
	list := make([]wire.Task, 0, mostTasks)
	for _, t := range tasks[:min(len(tasks), mostTasks)] {
		v := wire.Task{UPID: t.UPID, Node: t.Node, Type: t.Type, ID: t.ID, User: t.User, Status: t.Status, StartTime: t.Started}
		if !t.Ended.IsZero() {
			v.EndTime = &t.Ended
		}
		list = append(list, v)
	}
	return wire.Tasks{Tasks: list}, nil
}
