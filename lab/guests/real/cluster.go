package real

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/client-go/rest"

	"kubehenge.dev/lab/guests/cluster"
	"kubehenge.dev/lab/guests/vip"
)

// Cluster is one cluster. It lives as long as a control-plane machine of it exists, running or not.
type Cluster struct {
	registry *Registry
	spec     cluster.Spec // as its first machine made it
	endpoint *vip.Forwarder

	stop    context.CancelFunc // ends what watches over it
	watched sync.WaitGroup
	look    chan struct{} // asks the watch to look at once

	mu        sync.Mutex
	members   map[string]*member // machines that joined and still exist, by node
	closed    bool
	questions *rest.Config // for asking API servers how they are

	leading leading // the watch's own
}

func newCluster(r *Registry, s cluster.Spec) *Cluster {
	ctx, stop := context.WithCancel(context.Background())
	c := &Cluster{
		registry: r, spec: s, endpoint: vip.New(s.Endpoint), stop: stop, look: make(chan struct{}, 1), members: map[string]*member{},
	}
	c.watched.Go(func() { c.watchOver(ctx) })
	return c
}

// Name implements kubeadm.Cluster.
func (c *Cluster) Name() string { return c.spec.Name }

// Endpoint implements kubeadm.Cluster.
func (c *Cluster) Endpoint() string { return c.spec.Endpoint }

// Authorities implements kubeadm.Cluster.
func (c *Cluster) Authorities() (ca, etcd cluster.Authority) { return c.spec.CA, c.spec.EtcdCA }

// close ends the cluster and all that runs in it, its workers' kubelets included, and removes its machines' disks.
func (c *Cluster) close() {
	c.mu.Lock()
	c.closed = true
	all := c.members
	c.members = map[string]*member{}
	c.mu.Unlock()
	c.stop()
	c.watched.Wait()
	c.endpoint.Close()
	var work sync.WaitGroup
	for _, m := range all {
		work.Go(func() { m.destroy() })
	}
	work.Wait()
}

// admit makes a machine one of the cluster's.
func (c *Cluster) admit(m *member) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return cluster.ErrClosed
	}
	if c.members[m.node.Name] != nil {
		return fmt.Errorf("%w: %s", cluster.ErrNodeReady, m.node.Name)
	}
	c.members[m.node.Name] = m
	return nil
}

// dismiss forgets a machine.
func (c *Cluster) dismiss(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.members[m.node.Name] == m {
		delete(c.members, m.node.Name)
	}
}

func (c *Cluster) member(node string) *member {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.members[node]
}

// controlPlane returns the machines of the control plane, those that are off included.
func (c *Cluster) controlPlane() []*member {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*member
	for _, m := range c.members {
		if m.node.ControlPlane {
			list = append(list, m)
		}
	}
	return list
}

// nudge has the endpoint looked after at once.
func (c *Cluster) nudge() {
	select {
	case c.look <- struct{}{}:
	default:
	}
}
