package lab

import (
	"context"

	"kubehenge.dev/lab/build"
	"kubehenge.dev/lab/process"
)

// Plugins is the name of the process that plays the CSI plugin and the cloud controller manager of all clusters.
const Plugins = "plugins"

// startPlugins starts what plays the plugins that run inside workload clusters and talk to Proxmox VE.
func (l *Lab) startPlugins(ctx context.Context) error {
	return l.Processes.Start(ctx, process.Spec{
		Name: Plugins,
		Path: l.programs.Binaries[build.Kubehenge],
		Args: []string{"lab", Plugins, "--kubeconfig=" + l.Kubeconfig},
		Env:  collecting(50),
	})
}
