package agent

import (
	"context"

	"kubehenge.dev/agent/providers"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/render"
)

// addProviders runs the providers of a distribution only while a cluster uses it.
func (p *parts) addProviders(context.Context) error {
	if !p.options.ScaleProviders {
		return nil
	}
	part := &providers.Providers{
		Client: p.manager.GetClient(), Direct: p.manager.GetAPIReader(), Desired: p.store.Get, Clock: p.clock, Wake: p.wakeAll,
		Collect: p.reconciler.CollectClass,
	}
	part.Prepare()
	p.require(part)
	return p.manager.Add(part)
}

// require has classes wait for one more part.
func (p *parts) require(part sync.Providers) {
	if p.reconciler.Providers != nil {
		part = both{p.reconciler.Providers, part}
	}
	p.reconciler.Providers = part
}

// both are two parts that classes wait for, the first one first.
type both struct{ first, second sync.Providers }

// Ensure is nil once both are ready.
func (b both) Ensure(ctx context.Context, class *render.Class) error {
	if err := b.first.Ensure(ctx, class); err != nil {
		return err
	}
	return b.second.Ensure(ctx, class)
}
