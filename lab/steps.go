package lab

import "kubehenge.dev/lab/progress"

// steps are a lab's start, in order. What a step starts, Stop ends in reverse: managers before the API server, which
// would wait for their open watches.
func (l *Lab) steps() []progress.Step {
	steps := []progress.Step{
		{Name: "claim " + l.Services(), Do: l.claim},
		{Name: "find the programs", Do: l.build},
		{Name: "empty " + l.options.DataDir, Do: l.prepare},
		{Name: "make certificates", Do: l.certify},
		{Name: "start the simulated Proxmox VE", Do: l.startProxmox},
		{Name: "start etcd and kube-apiserver", Do: l.startAPIServer},
		{Name: "install kinds and webhooks, start kube-controller-manager", Do: l.install},
	}
	if !l.options.WithoutClusterAPI {
		steps = append(steps,
			progress.Step{Name: "start Cluster API", Do: l.startManagers},
			progress.Step{Name: "start the provider for Proxmox VE", Do: l.startCapmox},
			progress.Step{Name: "start the clusters' own plugins for Proxmox VE", Do: l.startPlugins})
	}
	if l.options.WithoutAppliance {
		steps = append(steps, progress.Step{Name: "serve the repository", Do: l.servePlain})
	} else {
		steps = append(steps, progress.Step{Name: "start the appliance", Do: l.startAppliance})
	}
	if !l.options.WithoutAgent {
		steps = append(steps, progress.Step{Name: "start the agent", Do: l.startAgent})
	}
	return steps
}
