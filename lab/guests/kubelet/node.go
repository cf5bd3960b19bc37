package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kubehenge.dev/lab/guests/cluster"
)

// Port is where a kubelet serves.
const Port = 10250

// managedAttach tells the attach-detach controller to attach this node's volumes. Upstream: kubernetes,
// pkg/volume/util/util.go (ControllerManagedAttachAnnotation)
const managedAttach = "volumes.kubernetes.io/controller-managed-attach-detach"

// nodeFacts are what is known of the node since it was registered.
type nodeFacts struct {
	uid           types.UID
	podCIDR       string
	volumesInUse  []corev1.UniqueVolumeName // as last reported
	reportedInUse bool
}

// register makes the node, or says of one that is there that its machine is back.
func (k *Kubelet) register(ctx context.Context) error {
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	want := k.object(time.Now())
	nodes := k.client.CoreV1().Nodes()
	live, err := nodes.Create(ctx, want, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		live, err = k.comeBack(ctx, want)
	}
	if err != nil {
		return fmt.Errorf("register node %s: %w", want.Name, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nodes.uid, k.nodes.podCIDR = live.UID, live.Spec.PodCIDR
	return nil
}

func (k *Kubelet) comeBack(ctx context.Context, want *corev1.Node) (*corev1.Node, error) {
	nodes := k.client.CoreV1().Nodes()
	live, err := nodes.Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	changed := live.DeepCopy()
	attached := live.Status.VolumesAttached
	changed.Status = want.Status
	changed.Status.VolumesAttached = attached
	return nodes.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
}

// object is the node without the labels that only kubeadm may put on.
func (k *Kubelet) object(now time.Time) *corev1.Node {
	node := k.options.Node.Object(now)
	node.UID = ""
	for _, label := range cluster.KubeadmLabels {
		delete(node.Labels, label)
	}
	node.Annotations = map[string]string{managedAttach: "true"}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = Port
	return node
}

// leaseSeconds is how long a lease holds. Upstream: the kubelet's nodeLeaseDurationSeconds, 40 by default.
const leaseSeconds = 40

// renewLease gives signs of life.
func (k *Kubelet) renewLease(ctx context.Context) {
	var last *coordinationv1.Lease
	for {
		last = k.renewOnce(ctx, last)
		if !sleep(ctx, k.options.Renew) {
			return
		}
	}
}

// renewOnce gives one sign of life, and returns the lease that the next one goes on from; nil when there is none.
func (k *Kubelet) renewOnce(ctx context.Context, last *coordinationv1.Lease) *coordinationv1.Lease {
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	leases := k.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	next, err := k.renewed(last), error(nil)
	if last == nil {
		last, err = leases.Create(ctx, next, metav1.CreateOptions{})
	} else {
		last, err = leases.Update(ctx, next, metav1.UpdateOptions{})
	}
	if err == nil {
		return last
	}
	if last, err = leases.Get(ctx, next.Name, metav1.GetOptions{}); err != nil {
		return nil
	}
	return last
}

func (k *Kubelet) renewed(last *coordinationv1.Lease) *coordinationv1.Lease {
	name := k.options.Node.Name
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name}}
	if last != nil {
		lease = last.DeepCopy()
	}
	k.mu.Lock()
	lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: k.nodes.uid}}
	k.mu.Unlock()
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = ptr.To(name), ptr.To[int32](leaseSeconds)
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now()))
	return lease
}

// podCIDR is the node's range of pod addresses; empty until a controller has assigned one, or for good.
func (k *Kubelet) podCIDR(ctx context.Context) string {
	k.mu.Lock()
	known := k.nodes.podCIDR
	k.mu.Unlock()
	if known != "" {
		return known
	}
	node, err := k.client.CoreV1().Nodes().Get(ctx, k.options.Node.Name, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nodes.podCIDR = node.Spec.PodCIDR
	return node.Spec.PodCIDR
}

// reportInUse tells the attach-detach controller which volumes it must not detach.
func (k *Kubelet) reportInUse(ctx context.Context, names []corev1.UniqueVolumeName) {
	k.mu.Lock()
	same := k.nodes.reportedInUse && slices.Equal(names, k.nodes.volumesInUse)
	nothing := len(names) == 0 && !k.nodes.reportedInUse
	k.mu.Unlock()
	if same || nothing {
		return
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"volumesInUse": names}})
	if err != nil {
		return
	}
	_, err = k.client.CoreV1().Nodes().Patch(ctx, k.options.Node.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return // the next round tries again
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nodes.volumesInUse, k.nodes.reportedInUse = names, true
}
