package kubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// facts are what a pod's status is made from, beside the pod.
type facts struct {
	hostIP, podIP string
	mounted       bool // its volumes are there
	ready         bool // what stands behind the pod works
	now           time.Time
}

// runsFor is how long the containers of a pod run that is to come to an end by itself.
const runsFor = time.Second

// status is the pod's next status: as if its containers had been started, with the times of the present status where
// nothing has changed.
func status(pod *corev1.Pod, f facts) corev1.PodStatus {
	next := *pod.Status.DeepCopy()
	next.HostIP, next.HostIPs = f.hostIP, []corev1.HostIP{{IP: f.hostIP}}
	if next.StartTime == nil {
		next.StartTime = ptr.To(metav1.NewTime(f.now).Rfc3339Copy())
	}
	b := builder{pod: pod, facts: f, next: &next}
	switch {
	case !f.mounted || f.podIP == "":
		b.waiting()
	case pod.Spec.RestartPolicy != corev1.RestartPolicyAlways && !f.now.Before(next.StartTime.Add(runsFor)):
		b.completed()
	default:
		b.running()
	}
	return next
}

// builder fills in a status.
type builder struct {
	pod   *corev1.Pod
	facts facts
	next  *corev1.PodStatus
}

func (b *builder) waiting() {
	b.next.Phase = corev1.PodPending
	state := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	b.next.InitContainerStatuses = b.containers(b.pod.Spec.InitContainers, state, false)
	b.next.ContainerStatuses = b.containers(b.pod.Spec.Containers, state, false)
	b.conditions(len(b.pod.Spec.InitContainers) == 0, false, "ContainersNotReady")
}

func (b *builder) running() {
	b.addresses()
	b.next.Phase = corev1.PodRunning
	b.next.InitContainerStatuses = b.initContainers(b.runningState())
	b.next.ContainerStatuses = b.containers(b.pod.Spec.Containers, b.runningState(), b.facts.ready)
	b.conditions(true, b.facts.ready, "ContainersNotReady")
}

func (b *builder) completed() {
	b.addresses()
	b.next.Phase = corev1.PodSucceeded
	b.next.InitContainerStatuses = b.initContainers(b.completedState())
	b.next.ContainerStatuses = b.containers(b.pod.Spec.Containers, b.completedState(), false)
	b.conditions(true, false, "PodCompleted")
}

func (b *builder) addresses() {
	b.next.PodIP, b.next.PodIPs = b.facts.podIP, []corev1.PodIP{{IP: b.facts.podIP}}
}

func (b *builder) runningState() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: *b.next.StartTime}}
}

func (b *builder) completedState() corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		Reason: "Completed", StartedAt: *b.next.StartTime, FinishedAt: metav1.NewTime(b.next.StartTime.Add(runsFor)),
	}}
}

// initContainers have come to their end, those left out that run beside the containers.
func (b *builder) initContainers(beside corev1.ContainerState) []corev1.ContainerStatus {
	var list []corev1.ContainerStatus
	for _, c := range b.pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			list = append(list, b.container(c, beside, beside.Running != nil))
			continue
		}
		list = append(list, b.container(c, b.completedState(), true))
	}
	return list
}

func (b *builder) containers(containers []corev1.Container, state corev1.ContainerState, ready bool) []corev1.ContainerStatus {
	var list []corev1.ContainerStatus
	for _, c := range containers {
		list = append(list, b.container(c, state, ready))
	}
	return list
}

func (b *builder) container(c corev1.Container, state corev1.ContainerState, ready bool) corev1.ContainerStatus {
	s := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, State: *state.DeepCopy(), Ready: ready, Started: ptr.To(state.Running != nil),
	}
	if state.Waiting == nil {
		s.ImageID = "simulated://" + c.Image
		s.ContainerID = "simulated://" + string(b.pod.UID) + "/" + c.Name
	}
	if state.Terminated != nil {
		s.State.Terminated.ContainerID = s.ContainerID
	}
	return s
}

func (b *builder) conditions(initialized, ready bool, reason string) {
	b.condition(corev1.PodReadyToStartContainers, b.next.PodIP != "", "")
	b.condition(corev1.PodInitialized, initialized, "ContainersNotInitialized")
	b.condition(corev1.PodReady, ready && b.gatesOpen(), reason)
	b.condition(corev1.ContainersReady, ready, reason)
	b.condition(corev1.PodScheduled, true, "")
}

// gatesOpen says whether the conditions hold that others set and the pod waits for.
func (b *builder) gatesOpen() bool {
	for _, gate := range b.pod.Spec.ReadinessGates {
		open := false
		for _, c := range b.next.Conditions {
			open = open || c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		}
		if !open {
			return false
		}
	}
	return true
}

// condition sets one condition; reason is why it does not hold.
func (b *builder) condition(kind corev1.PodConditionType, holds bool, reason string) {
	want := corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(b.facts.now).Rfc3339Copy()}
	if !holds {
		want.Status, want.Reason = corev1.ConditionFalse, reason
	}
	for i, c := range b.next.Conditions {
		if c.Type != kind {
			continue
		}
		if c.Status != want.Status || c.Reason != want.Reason {
			want.ObservedGeneration = c.ObservedGeneration
			b.next.Conditions[i] = want
		}
		return
	}
	b.next.Conditions = append(b.next.Conditions, want)
}
