package providers

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
)

// step is one part of starting or stopping the providers of a distribution. Each looks before it acts, so that it may
// be repeated, and the agent killed after any of them.
type step struct {
	name string
	// run says whether it had nothing to do.
	run func(p *Providers, ctx context.Context, distribution string) (was bool, err error)
	// first is true for one that must have nothing to do before the next may follow.
	first bool
}

// errInterrupt stops the work as a crash would.
var errInterrupt = errors.New("interrupted")

// starting are the steps by which a distribution's providers run.
func starting(distribution string) []step { return scaling(distribution, 1) }

// stopping are the steps by which they cease to: their webhooks admit the deletion of the class's objects, so that those
// go first, and a class that comes meanwhile must not take the providers for serving.
func stopping(distribution string) []step {
	return append([]step{
		{"remove classes", (*Providers).removeClasses, true},
		{"forget that they serve", (*Providers).forget, false},
	}, scaling(distribution, 0)...)
}

// scaling is a step for each provider.
func scaling(distribution string, replicas int32) []step {
	var steps []step
	for _, key := range Deployments[distribution] {
		steps = append(steps, step{"scale " + key.Name, scaleOne(key, replicas), false})
	}
	return steps
}

func scaleOne(key types.NamespacedName, replicas int32) func(*Providers, context.Context, string) (bool, error) {
	return func(p *Providers, ctx context.Context, _ string) (bool, error) { return p.scale(ctx, key, replicas) }
}

// take takes the steps in order, and says whether all of them were taken and none had anything to do.
func (p *Providers) take(ctx context.Context, distribution string, steps []step) (was bool, err error) {
	was = true
	for _, s := range steps {
		had, err := s.run(p, ctx, distribution)
		if err == nil && p.interrupt != nil {
			err = p.interrupt(s.name)
		}
		if err != nil {
			return false, err
		}
		was = was && had
		if s.first && !had {
			return false, nil
		}
	}
	return was, nil
}

func (p *Providers) forget(_ context.Context, distribution string) (bool, error) {
	delete(p.serving, distribution)
	delete(p.starting, distribution)
	return true, nil
}
