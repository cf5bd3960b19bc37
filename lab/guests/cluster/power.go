package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Started says that a machine of the cluster runs again: its node becomes Ready, and with the first machine of the
// control plane the endpoint answers. A name that is not the cluster's is ignored.
func (c *Cluster) Started(ctx context.Context, name string) error {
	c.mu.Lock()
	m := c.nodes[name]
	if m == nil || c.closed {
		c.mu.Unlock()
		return nil
	}
	m.running = true
	m.cancelGrace()
	node := m.node
	c.mu.Unlock()
	if err := c.register(ctx, node); err != nil {
		return err
	}
	if err := c.setReady(ctx, name, true); err != nil {
		return err
	}
	if node.ControlPlane {
		return c.listen(ctx)
	}
	return nil
}

// Stopped says that a machine has been switched off: its etcd member and pods answer no more, without any machine of
// the control plane the endpoint falls silent, and after the grace period its node is no longer Ready.
func (c *Cluster) Stopped(ctx context.Context, name string) error {
	c.mu.Lock()
	m := c.nodes[name]
	if m == nil || !m.running {
		c.mu.Unlock()
		return nil
	}
	m.running = false
	// In a goroutine, as a test's clock calls with its own lock held.
	m.grace = c.registry.clock.AfterFunc(c.registry.grace, func() { go c.graceEnded(m) })
	silent := !c.controlPlaneRuns()
	c.mu.Unlock()
	if silent {
		c.silence()
		return nil
	}
	return c.electLeader(ctx)
}

// Destroyed says that a machine is gone for good. Its pods go; its node stays, not Ready, until somebody deletes it, as
// in a cluster without a cloud controller. With its last control-plane machine the cluster goes.
func (c *Cluster) Destroyed(ctx context.Context, name string) error {
	if err := c.Stopped(ctx, name); err != nil {
		return err
	}
	c.mu.Lock()
	if m := c.nodes[name]; m != nil && m.grace != nil {
		c.gone[m] = true
	}
	delete(c.nodes, name)
	last := true
	for _, m := range c.nodes {
		last = last && !m.node.ControlPlane
	}
	c.mu.Unlock()
	if last {
		c.registry.Remove(c)
		return nil
	}
	if err := c.deletePods(ctx, name); err != nil {
		return fmt.Errorf("delete pods of node %s: %w", name, err)
	}
	return c.electLeader(ctx)
}

// graceEnded is the node controller's verdict on a machine that has not come back, nor another of its name.
func (c *Cluster) graceEnded(m *member) {
	c.mu.Lock()
	delete(c.gone, m)
	m.grace = nil
	current := c.nodes[m.node.Name]
	back := current != nil && current.running
	c.mu.Unlock()
	if !back {
		c.setReady(context.Background(), m.node.Name, false) //nolint:errcheck // the cluster has gone, so nobody sees it
	}
}

// controlPlaneRuns says whether any machine of the control plane does. The caller holds the lock.
func (c *Cluster) controlPlaneRuns() bool {
	for _, m := range c.nodes {
		if m.node.ControlPlane && m.running {
			return true
		}
	}
	return false
}

func (m *member) cancelGrace() {
	if m.grace != nil {
		m.grace.Stop()
		m.grace = nil
	}
}

// setReady writes the conditions of a node and of its pods. A node that is not there is left alone.
func (c *Cluster) setReady(ctx context.Context, name string, ready bool) error {
	node := &corev1.Node{}
	if err := c.objects().Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	changed := node.DeepCopy()
	changed.Status.Conditions = conditions(c.registry.clock.Now(), ready)
	if err := c.objects().Patch(ctx, changed, client.MergeFrom(node)); err != nil {
		return fmt.Errorf("set conditions of node %s: %w", name, err)
	}
	return c.setPodsReady(ctx, name, ready)
}

// conditions are a node's as its kubelet reports them, or as the node controller writes them once it no longer does.
func conditions(now time.Time, ready bool) []corev1.NodeCondition {
	at := metav1.NewTime(now)
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{
			Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: at, LastTransitionTime: at,
		}
	}
	if !ready {
		const reason, message = "NodeStatusUnknown", "Kubelet stopped posting node status."
		return []corev1.NodeCondition{
			condition(corev1.NodeMemoryPressure, corev1.ConditionUnknown, reason, message),
			condition(corev1.NodeDiskPressure, corev1.ConditionUnknown, reason, message),
			condition(corev1.NodePIDPressure, corev1.ConditionUnknown, reason, message),
			condition(corev1.NodeReady, corev1.ConditionUnknown, reason, message),
		}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
}
