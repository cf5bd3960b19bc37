package real

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// lookEvery is how often the endpoint is looked after.
	lookEvery = time.Second
	// healthTimeout is how long an API server may take to say that it is ready.
	healthTimeout = 3 * time.Second
	// patience is how often in a row it may fail to, before another machine gets the endpoint.
	patience = 5
)

// leading is which machine has the endpoint.
type leading struct {
	member *member
	misses int
}

// watcher is the configuration for questions about health, made once.
func (c *Cluster) watcher() (*rest.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.questions == nil {
		config, err := c.admin(c.spec.Endpoint)
		if err != nil {
			return nil, err
		}
		config.GroupVersion, config.NegotiatedSerializer = plain()
		c.questions = config
	}
	return rest.CopyConfig(c.questions), nil
}

// watchOver keeps the endpoint with a machine whose API server works, and the cluster's controllers on that machine. It is
// kube-vip's work, and that of the controllers' own elections.
func (c *Cluster) watchOver(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-c.look:
		}
		c.lead(ctx)
	}
}

// lead looks after the endpoint once. Without quorum no API server is ready: then the endpoint stays where it is, or goes to
// any machine that is on, so that clients hear why.
func (c *Cluster) lead(ctx context.Context) {
	current := c.leading.member
	if current != nil && !current.mayServe() {
		current = nil
	}
	if current != nil {
		if current.ready(ctx) == nil {
			c.leading.misses = 0
			c.give(ctx, current)
			return
		}
		if c.leading.misses++; c.leading.misses < patience {
			return
		}
	}
	candidates := c.candidates()
	next := current
	for _, m := range candidates {
		if m != current && m.ready(ctx) == nil {
			next = m
			break
		}
	}
	if next == nil && len(candidates) > 0 {
		next = candidates[0]
	}
	c.give(ctx, next)
}

// candidates are the machines of the control plane that are on, in the order of their names.
func (c *Cluster) candidates() []*member {
	list := slices.DeleteFunc(c.controlPlane(), func(m *member) bool { return !m.mayServe() })
	slices.SortFunc(list, func(a, b *member) int { return cmp.Compare(a.node.Name, b.node.Name) })
	return list
}

// give lets a machine have the endpoint and the controllers; nobody, when it is nil.
func (c *Cluster) give(ctx context.Context, next *member) {
	last := c.leading.member
	log := c.registry.options.Log.With("cluster", c.spec.Name, "endpoint", c.spec.Endpoint)
	if last != next {
		c.leading.member, c.leading.misses = next, 0
		if last != nil {
			last.stopControllers()
		}
	}
	if ctx.Err() != nil {
		return
	}
	if next == nil {
		c.endpoint.Close()
		return
	}
	if last != next {
		log.Info("endpoint has moved", "node", next.node.Name)
	}
	if err := c.endpoint.Point(ctx, next.apiAddress()); err != nil {
		log.Error("endpoint is not served", "error", err)
		return
	}
	next.startControllers()
}
