package kubelet

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mount says whether all of a pod's volumes could be mounted now, and which of them have to be attached to the machine
// first. Nothing is mounted.
func (k *Kubelet) mount(ctx context.Context, pod *corev1.Pod) (attach []corev1.UniqueVolumeName, mounted bool) {
	mounted = true
	for _, v := range pod.Spec.Volumes {
		claim := claimName(pod, v)
		if claim == "" {
			continue
		}
		name, bound := k.volumeOf(ctx, pod.Namespace, claim)
		if !bound {
			mounted = false
			continue
		}
		if name != "" {
			attach = append(attach, name)
		}
	}
	if mounted && len(attach) > 0 {
		mounted = k.attached(ctx, attach)
	}
	return attach, mounted
}

// claimName is the name of the claim that a volume of a pod refers to; empty for other volumes.
func claimName(pod *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// volumeOf finds the volume that a claim is bound to. The name is empty when it needs not be attached: it is not CSI's,
// or its driver says so.
func (k *Kubelet) volumeOf(ctx context.Context, namespace, claim string) (name corev1.UniqueVolumeName, bound bool) {
	pvc, err := k.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, claim, metav1.GetOptions{})
	if err != nil || pvc.Spec.VolumeName == "" || pvc.Status.Phase != corev1.ClaimBound {
		return "", false
	}
	pv, err := k.client.CoreV1().PersistentVolumes().Get(ctx, pvc.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return "", false
	}
	csi := pv.Spec.CSI
	if csi == nil {
		return "", true
	}
	driver, err := k.client.StorageV1().CSIDrivers().Get(ctx, csi.Driver, metav1.GetOptions{})
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return "", false
	case err == nil && driver.Spec.AttachRequired != nil && !*driver.Spec.AttachRequired:
		return "", true
	}
	// Upstream: kubernetes, pkg/volume/util/util.go (GetUniqueVolumeName)
	return corev1.UniqueVolumeName("kubernetes.io/csi/" + csi.Driver + "^" + csi.VolumeHandle), true
}

// attached says whether the attach-detach controller has had all of the volumes attached.
func (k *Kubelet) attached(ctx context.Context, names []corev1.UniqueVolumeName) bool {
	node, err := k.client.CoreV1().Nodes().Get(ctx, k.options.Node.Name, metav1.GetOptions{})
	if err != nil {
		return false
	}
	for _, name := range names {
		if !slices.ContainsFunc(node.Status.VolumesAttached, func(v corev1.AttachedVolume) bool { return v.Name == name }) {
			return false
		}
	}
	return true
}

func sorted(names map[corev1.UniqueVolumeName]bool) []corev1.UniqueVolumeName {
	list := make([]corev1.UniqueVolumeName, 0, len(names))
	for name := range names {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
