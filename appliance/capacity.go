package appliance

import (
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/view/capacity"
	"kubehenge.dev/appliance/view/fleet"
	"kubehenge.dev/appliance/wire"
)

// showCapacity asks Proxmox VE as the person, so that it shows what it would show them itself.
func showCapacity(r *request) (any, error) {
	if _, err := r.look(); err != nil {
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
	v.Networks, v.Stale = fleet.Networks(spec, r.state.Rendering.Overlays, r.s.live.Claims()), r.s.live.Stale()
	return v, nil
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
