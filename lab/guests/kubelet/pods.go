package kubelet

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

// tick is how often pods are looked at without news of them.
const tick = time.Second

// podStore holds the pods that are assigned to the node, by namespace/name. It is guarded by the kubelet's lock.
type podStore struct{ byName map[string]*tracked }

// tracked is a pod and what the kubelet has done for it.
type tracked struct {
	pod     *corev1.Pod
	ip      string                    // empty until it has one
	volumes []corev1.UniqueVolumeName // those that had to be attached
	mounted bool
}

func key(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// set notes a pod's present state; another pod of the same name begins afresh.
func (s *podStore) set(pod *corev1.Pod) {
	known := s.byName[key(pod)]
	if known == nil || known.pod.UID != pod.UID {
		s.byName[key(pod)] = &tracked{pod: pod}
		return
	}
	known.pod = pod
}

func (s *podStore) remove(pod *corev1.Pod) {
	if known := s.byName[key(pod)]; known != nil && known.pod.UID == pod.UID {
		delete(s.byName, key(pod))
	}
}

// followPods keeps an eye on the node's pods until ctx ends. A watch that breaks begins again with a list.
func (k *Kubelet) followPods(ctx context.Context) {
	for ctx.Err() == nil {
		events, err := k.listAndWatch(ctx)
		if err != nil {
			sleep(ctx, retry)
			continue
		}
		k.attend(ctx, events)
		events.Stop()
	}
}

func (k *Kubelet) listAndWatch(ctx context.Context) (watch.Interface, error) {
	mine := fields.OneTermEqualSelector("spec.nodeName", k.options.Node.Name).String()
	pods := k.client.CoreV1().Pods(metav1.NamespaceAll)
	list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: mine})
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	there := map[string]bool{}
	for i := range list.Items {
		k.pods.set(&list.Items[i])
		there[key(&list.Items[i])] = true
	}
	for name := range k.pods.byName {
		if !there[name] {
			delete(k.pods.byName, name)
		}
	}
	k.mu.Unlock()
	return pods.Watch(ctx, metav1.ListOptions{FieldSelector: mine, ResourceVersion: list.ResourceVersion})
}

// attend works until the watch or ctx ends.
func (k *Kubelet) attend(ctx context.Context, events watch.Interface) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		k.syncAll(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case e, open := <-events.ResultChan():
			if !open || !k.take(e) {
				return
			}
		}
	}
}

// take notes an event; false when the watch is of no use any more.
func (k *Kubelet) take(e watch.Event) bool {
	pod, ok := e.Object.(*corev1.Pod)
	if !ok {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if e.Type == watch.Deleted {
		k.pods.remove(pod)
		return true
	}
	k.pods.set(pod)
	return true
}

func (k *Kubelet) all() []*tracked {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]*tracked, 0, len(k.pods.byName))
	for _, t := range k.pods.byName {
		list = append(list, t)
	}
	return list
}

// pod returns the pod of a name, or nil.
func (k *Kubelet) pod(namespace, name string) *corev1.Pod {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.pods.byName[namespace+"/"+name]; t != nil {
		return t.pod
	}
	return nil
}

func (k *Kubelet) syncAll(ctx context.Context) {
	k.mirror(ctx)
	all := k.all()
	for _, t := range all {
		k.sync(ctx, t)
	}
	k.reportInUse(ctx, inUse(all))
}

// sync brings one pod a step forward. What fails is tried again in the next round.
func (k *Kubelet) sync(ctx context.Context, t *tracked) {
	pod := t.pod
	switch {
	case pod.DeletionTimestamp != nil:
		k.finish(ctx, pod)
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
	default:
		k.report(ctx, t)
	}
}

// finish says that a pod that is being deleted has ended.
func (k *Kubelet) finish(ctx context.Context, pod *corev1.Pod) {
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0), Preconditions: &metav1.Preconditions{UID: ptr.To(pod.UID)},
	})
	if err == nil || apierrors.IsNotFound(err) {
		k.mu.Lock()
		k.pods.remove(pod)
		k.mu.Unlock()
	}
}

// report writes the pod's status when it has changed.
func (k *Kubelet) report(ctx context.Context, t *tracked) {
	pod := t.pod
	if !t.mounted {
		t.volumes, t.mounted = k.mount(ctx, pod)
	}
	if t.ip == "" && t.mounted {
		t.ip = k.addressOf(ctx, pod)
	}
	want := status(pod, facts{
		hostIP: k.options.Node.Address, podIP: t.ip, mounted: t.mounted, ready: k.ready(pod), now: time.Now(),
	})
	if equality.Semantic.DeepEqual(pod.Status, want) {
		return
	}
	changed := pod.DeepCopy()
	changed.Status = want
	live, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if t.pod == pod {
		t.pod = live
	}
}

// inUse are the volumes of pods that have not ended, sorted and each once.
func inUse(all []*tracked) []corev1.UniqueVolumeName {
	seen := map[corev1.UniqueVolumeName]bool{}
	for _, t := range all {
		for _, name := range t.volumes {
			seen[name] = true
		}
	}
	return sorted(seen)
}
