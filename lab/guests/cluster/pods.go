package cluster

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// components are the static pods of a control-plane node, by the label that Cluster API finds them by.
var components = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}

func newUID() types.UID { return uuid.NewUUID() }

func (c *Cluster) putStaticPods(ctx context.Context, n Node) error {
	for _, component := range components {
		pod := c.staticPod(n, component)
		if component == "etcd" {
			annotations, err := c.etcdAnnotations(ctx)
			if err != nil {
				return err
			}
			pod.Annotations = annotations
		}
		if err := c.put(ctx, pod); err != nil {
			return fmt.Errorf("pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

func (c *Cluster) staticPod(n Node, component string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: component + "-" + n.Name, UID: newUID(),
			Labels: map[string]string{"component": component, "tier": "control-plane"},
		},
		Spec: corev1.PodSpec{
			NodeName: n.Name, HostNetwork: true, PriorityClassName: "system-node-critical",
			Containers: []corev1.Container{{Name: component, Image: c.image(component, n.Version)}},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, HostIP: n.Address, PodIP: n.Address, Conditions: podConditions(c.registry.clock.Now(), true),
		},
	}
}

// image names a component's image; etcd's version is the one that kubeadm 1.36 installs.
func (c *Cluster) image(component, version string) string {
	if component == "etcd" {
		version = EtcdTag
	}
	return Image(c.spec.ImageRepository, component, version)
}

// Image names an image in a repository, by default the Kubernetes project's.
func Image(repository, name, tag string) string {
	if repository == "" {
		repository = "registry.k8s.io"
	}
	return repository + "/" + name + ":" + tag
}

func podConditions(now time.Time, ready bool) []corev1.PodCondition {
	status, reason := corev1.ConditionTrue, ""
	if !ready {
		status, reason = corev1.ConditionFalse, "NodeNotReady"
	}
	at := metav1.NewTime(now)
	return []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: at},
		{Type: corev1.PodReady, Status: status, Reason: reason, LastTransitionTime: at},
		{Type: corev1.ContainersReady, Status: status, Reason: reason, LastTransitionTime: at},
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: at},
	}
}

// etcdAnnotations are by what the in-memory etcd knows a member: the cluster's ID, and its own.
func (c *Cluster) etcdAnnotations(ctx context.Context) (map[string]string, error) {
	pods, err := c.etcdPods(ctx)
	if err != nil {
		return nil, err
	}
	id := etcdID()
	for _, pod := range pods {
		if known := pod.Annotations[cloudv1.EtcdClusterIDAnnotationName]; known != "" {
			id = known
		}
	}
	return map[string]string{cloudv1.EtcdClusterIDAnnotationName: id, cloudv1.EtcdMemberIDAnnotationName: etcdID()}, nil
}

// etcdID is a random ID; the in-memory etcd reads it as a signed number.
func etcdID() string {
	var b [4]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	return strconv.FormatUint(uint64(binary.BigEndian.Uint32(b[:]))+1, 10)
}

func (c *Cluster) etcdPods(ctx context.Context) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	err := c.objects().List(ctx, pods, client.InNamespace(metav1.NamespaceSystem),
		client.MatchingLabels{"component": "etcd", "tier": "control-plane"})
	if err != nil {
		return nil, fmt.Errorf("list etcd pods: %w", err)
	}
	return pods.Items, nil
}

// electLeader makes sure that etcd's leader is a member that runs, if any does. The leader is the member whose
// annotation is the latest (cluster-api, test/infrastructure/inmemory/pkg/cloud/api/v1alpha1/etcdcluster_annotations.go).
func (c *Cluster) electLeader(ctx context.Context) error {
	pods, err := c.etcdPods(ctx)
	if err != nil {
		return err
	}
	var leader, candidate *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if _, removed := pod.Annotations[cloudv1.EtcdMemberRemoved]; removed {
			continue
		}
		since := pod.Annotations[cloudv1.EtcdLeaderFromAnnotationName]
		if since != "" && (leader == nil || since > leader.Annotations[cloudv1.EtcdLeaderFromAnnotationName]) {
			leader = pod
		}
		if c.runningMember(pod.Spec.NodeName) != nil {
			candidate = pod
		}
	}
	if candidate == nil || leader != nil && c.runningMember(leader.Spec.NodeName) != nil {
		return nil
	}
	return c.makeLeader(ctx, candidate, leader)
}

// makeLeader moves leadership; the old leader's annotation goes, as the two times may be equal to the second.
func (c *Cluster) makeLeader(ctx context.Context, next, old *corev1.Pod) error {
	if old != nil {
		changed := old.DeepCopy()
		delete(changed.Annotations, cloudv1.EtcdLeaderFromAnnotationName)
		if err := c.objects().Patch(ctx, changed, client.MergeFrom(old)); err != nil {
			return fmt.Errorf("end etcd leadership of %s: %w", old.Name, err)
		}
	}
	changed := next.DeepCopy()
	changed.Annotations[cloudv1.EtcdLeaderFromAnnotationName] = c.registry.clock.Now().UTC().Format(time.RFC3339)
	if err := c.objects().Patch(ctx, changed, client.MergeFrom(next)); err != nil {
		return fmt.Errorf("begin etcd leadership of %s: %w", next.Name, err)
	}
	return nil
}

func (c *Cluster) podsOf(ctx context.Context, node string) ([]corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := c.objects().List(ctx, pods); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	var found []corev1.Pod
	for _, pod := range pods.Items {
		if pod.Spec.NodeName == node {
			found = append(found, pod)
		}
	}
	return found, nil
}

func (c *Cluster) setPodsReady(ctx context.Context, node string, ready bool) error {
	pods, err := c.podsOf(ctx, node)
	if err != nil {
		return err
	}
	for i := range pods {
		changed := pods[i].DeepCopy()
		changed.Status.Conditions = podConditions(c.registry.clock.Now(), ready)
		if err := c.objects().Patch(ctx, changed, client.MergeFrom(&pods[i])); err != nil {
			return fmt.Errorf("set conditions of pod %s: %w", pods[i].Name, err)
		}
	}
	return nil
}

func (c *Cluster) deletePods(ctx context.Context, node string) error {
	pods, err := c.podsOf(ctx, node)
	if err != nil {
		return err
	}
	for i := range pods {
		if err := c.objects().Delete(ctx, &pods[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete pod %s: %w", pods[i].Name, err)
		}
	}
	return nil
}
