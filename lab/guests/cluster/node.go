package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ControlPlaneRole is the label and the taint of control-plane nodes.
const ControlPlaneRole = "node-role.kubernetes.io/control-plane"

// KubeadmLabels are those that kubeadm puts on nodes of the control plane, with empty values.
var KubeadmLabels = []string{ControlPlaneRole, corev1.LabelNodeExcludeBalancers}

// Node is a machine as its kubelet registers it.
type Node struct {
	Name         string
	ControlPlane bool
	ProviderID   string
	Version      string // of the kubelet, with its "v"
	SystemUUID   string // of the machine's SMBIOS
	Address      string // InternalIP
	Cores        int
	MemoryMiB    int
	Labels       map[string]string // beside the kubelet's own
	Taints       []corev1.Taint
	Files        map[string][]byte // those below /etc/kubernetes, by path; for machines that run real programs
}

// ErrNodeReady says that a node of that name is there and works; kubeadm refuses to join a second one.
var ErrNodeReady = errors.New("a node of this name exists and is Ready")

// ErrClosed says that the cluster has gone.
var ErrClosed = errors.New("cluster has gone")

// Join makes a machine part of the cluster: its node, and for the control plane its static pods and etcd member.
func (c *Cluster) Join(ctx context.Context, n Node) error {
	m := &member{node: n, running: true}
	if n.ControlPlane {
		certificate, err := c.spec.EtcdCA.issue(c.registry.clock.Now(), servingSubject(etcdPrefix+n.Name, c.host, "localhost", etcdPrefix+n.Name, n.Name))
		if err != nil {
			return fmt.Errorf("join node %s: %w", n.Name, err)
		}
		m.etcdCert = certificate
	}
	if err := c.checkName(ctx, n.Name); err != nil {
		return fmt.Errorf("join node %s: %w", n.Name, err)
	}
	if err := c.admit(m); err != nil {
		return fmt.Errorf("join node %s: %w", n.Name, err)
	}
	return c.register(ctx, n)
}

func (c *Cluster) checkName(ctx context.Context, name string) error {
	node := &corev1.Node{}
	if err := c.objects().Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return client.IgnoreNotFound(err)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return ErrNodeReady
		}
	}
	return nil
}

func (c *Cluster) admit(m *member) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	c.nodes[m.node.Name] = m
	return nil
}

// register writes what a kubelet that starts brings into the cluster. It may be repeated.
func (c *Cluster) register(ctx context.Context, n Node) error {
	if err := c.put(ctx, n.Object(c.registry.clock.Now())); err != nil {
		return fmt.Errorf("register node %s: %w", n.Name, err)
	}
	if !n.ControlPlane {
		return nil
	}
	if err := c.putStaticPods(ctx, n); err != nil {
		return fmt.Errorf("register static pods of node %s: %w", n.Name, err)
	}
	return c.electLeader(ctx)
}

// put creates an object, or leaves one that exists as it is.
func (c *Cluster) put(ctx context.Context, o client.Object) error {
	if err := c.objects().Create(ctx, o); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// Object is the node as its kubelet registers it, Ready; for the control plane with the labels that kubeadm puts on.
func (n Node) Object(now time.Time) *corev1.Node {
	labels := map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
	}
	if n.ControlPlane {
		for _, label := range KubeadmLabels {
			labels[label] = ""
		}
	}
	for key, value := range n.Labels {
		labels[key] = value
	}
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(strconv.Itoa(max(n.Cores, 1))),
		corev1.ResourceMemory: resource.MustParse(strconv.Itoa(max(n.MemoryMiB, 1)) + "Mi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: newUID(), Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: n.ProviderID, Taints: n.Taints},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: n.Address}, {Type: corev1.NodeHostName, Address: n.Name},
			},
			NodeInfo: corev1.NodeSystemInfo{
				MachineID: n.SystemUUID, SystemUUID: n.SystemUUID, BootID: string(newUID()),
				KubeletVersion: n.Version, KubeProxyVersion: n.Version, ContainerRuntimeVersion: "containerd://2.1.4",
				OSImage: "Simulated Linux", KernelVersion: "6.12.0", OperatingSystem: "linux", Architecture: "amd64",
			},
			Conditions: conditions(now, true),
		},
	}
}
