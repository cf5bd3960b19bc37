package real

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kubehenge.dev/lab/guests/cluster"
)

// Upstream: kubernetes, cmd/kubeadm/app/apis/kubeadm/v1beta4 (Timeouts: controlPlaneComponentHealthCheck 4m, etcdAPICall 2m)
const (
	componentTimeout = 4 * time.Minute
	etcdTimeout      = 2 * time.Minute
)

// step is one of those that make a machine part of a cluster.
type step struct {
	name string
	do   func(context.Context) error
}

func inOrder(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// initialize is kubeadm init on the first machine.
func (c *Cluster) initialize(ctx context.Context, first cluster.Node, tokens []string) error {
	m, err := c.newMember(c.spec, first)
	if err != nil {
		return err
	}
	if err := c.admit(m); err != nil {
		return err
	}
	return inOrder(ctx, []step{
		{"make certificates", func(context.Context) error { return m.prepare() }},
		{"start etcd", func(context.Context) error {
			m.run(etcd, m.etcdArgs(m.node.Name+"="+m.peerURL(), "new"))
			return nil
		}},
		{"start kube-apiserver", m.startAPIServer},
		{"upload configuration and add-ons", func(ctx context.Context) error { return c.seed(ctx, m, tokens) }},
		{"serve the endpoint", m.serve},
		{"start the kubelet", m.startNode},
		{"mark the control plane", m.mark},
	})
}

// Join implements kubeadm.Cluster.
func (c *Cluster) Join(ctx context.Context, s cluster.Spec, n cluster.Node) error {
	if err := c.checkName(ctx, n.Name); err != nil {
		return fmt.Errorf("join node %s: %w", n.Name, err)
	}
	m, err := c.newMember(s, n)
	if err != nil {
		return err
	}
	if err := c.admit(m); err != nil {
		return fmt.Errorf("join node %s: %w", n.Name, err)
	}
	if err := m.join(ctx); err != nil {
		c.dismiss(m)
		m.destroy()
		return fmt.Errorf("join node %s: %w", n.Name, err)
	}
	return nil
}

func (m *member) join(ctx context.Context) error {
	if !m.node.ControlPlane {
		return m.startNode(ctx)
	}
	return inOrder(ctx, []step{
		{"make certificates", func(context.Context) error { return m.prepare() }},
		{"join etcd", m.joinEtcd},
		{"start kube-apiserver", m.startAPIServer},
		{"serve the endpoint", m.serve},
		{"start the kubelet", m.startNode},
		{"mark the control plane", m.mark},
	})
}

// checkName refuses a second machine of a name.
func (c *Cluster) checkName(ctx context.Context, name string) error {
	client, err := c.clientset(c.spec.Endpoint)
	if err != nil {
		return err
	}
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return cluster.ErrNodeReady
		}
	}
	return nil
}

func (c *Cluster) clientset(server string) (kubernetes.Interface, error) {
	config, err := c.admin(server)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// startAPIServer starts kube-apiserver and waits until it is ready.
func (m *member) startAPIServer(ctx context.Context) error {
	m.run(apiServer, m.apiServerArgs())
	ctx, end := context.WithTimeoutCause(ctx, componentTimeout, errors.New("it was not ready within "+componentTimeout.String()))
	defer end()
	for {
		err := m.ready(ctx)
		if err == nil {
			return nil
		}
		for _, name := range []string{etcd, apiServer} {
			if failed := m.failed(name); failed != nil {
				return failed
			}
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// ready asks the machine's API server whether it is.
func (m *member) ready(ctx context.Context) error {
	config, err := m.cluster.watcher()
	if err != nil {
		return err
	}
	config.Host = "https://" + m.apiAddress()
	config.Timeout = healthTimeout
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return err
	}
	return client.Get().AbsPath("/readyz").Do(ctx).Error()
}

// serve lets the machine have the endpoint, and waits until some machine has it.
func (m *member) serve(ctx context.Context) error {
	m.setServes(true)
	for m.cluster.endpoint.Target() == "" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (m *member) startNode(ctx context.Context) error {
	if err := m.startKubelet(); err != nil {
		return err
	}
	return m.awaitNode(ctx)
}

// mark puts the labels on that a kubelet may not put on its own node.
func (m *member) mark(ctx context.Context) error {
	labels := map[string]string{}
	for _, label := range cluster.KubeadmLabels {
		labels[label] = ""
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	client, err := m.cluster.clientset(m.apiAddress())
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, m.node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
