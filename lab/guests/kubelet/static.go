package kubelet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// StaticPod is a pod that the machine runs by itself.
type StaticPod struct {
	Pod *corev1.Pod // its name without the node's
	// Ready says whether what stands behind it works; nil means that it always does.
	Ready func() bool
}

// Annotations of the pods that show static ones. Upstream: kubernetes, pkg/kubelet/types/pod_update.go
const (
	sourceAnnotation = "kubernetes.io/config.source"
	mirrorAnnotation = "kubernetes.io/config.mirror"
	hashAnnotation   = "kubernetes.io/config.hash"
)

// mirror makes the pods that show the static ones, as far as they are not there.
func (k *Kubelet) mirror(ctx context.Context) {
	for _, s := range k.options.StaticPods {
		pod := k.mirrorOf(s.Pod)
		if k.pod(pod.Namespace, pod.Name) != nil {
			continue
		}
		live, err := k.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			continue // the next round tries again
		}
		k.mu.Lock()
		k.pods.set(live)
		k.mu.Unlock()
	}
}

// mirrorOf is the pod that shows a static one. The API server takes it from a node only when that owns it.
func (k *Kubelet) mirrorOf(static *corev1.Pod) *corev1.Pod {
	node := k.options.Node.Name
	pod := static.DeepCopy()
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	pod.Name += "-" + node
	pod.Spec.NodeName = node
	pod.Spec.ServiceAccountName, pod.Spec.AutomountServiceAccountToken = "", nil
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})
	hash := hashOf(static)
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[sourceAnnotation], pod.Annotations[mirrorAnnotation], pod.Annotations[hashAnnotation] = "file", hash, hash
	k.mu.Lock()
	defer k.mu.Unlock()
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "Node", Name: node, UID: k.nodes.uid, Controller: ptr.To(true),
	}}
	return pod
}

func hashOf(pod *corev1.Pod) string {
	data, err := json.Marshal(pod)
	if err != nil {
		return "unknown"
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// ready says whether what stands behind a pod works.
func (k *Kubelet) ready(pod *corev1.Pod) bool {
	if pod.Annotations[mirrorAnnotation] == "" {
		return true
	}
	for _, s := range k.options.StaticPods {
		if s.Pod.Namespace == pod.Namespace && s.Pod.Name+"-"+k.options.Node.Name == pod.Name {
			return s.Ready == nil || s.Ready()
		}
	}
	return true
}
