package agent

import (
	"context"

	"kubehenge.dev/agent/kubeconfigs"
)

// addKubeconfigs has clusters' kubeconfigs copied to where the appliance may read them.
func (p *parts) addKubeconfigs(context.Context) error {
	return kubeconfigs.Setup(p.manager, &kubeconfigs.Copier{Client: p.manager.GetClient(), Direct: p.manager.GetAPIReader()})
}
