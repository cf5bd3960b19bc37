package kubelet

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"
)

func pod(policy corev1.RestartPolicy) *corev1.Pod {
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.UID = "web", "a", "1"
	p.Spec = corev1.PodSpec{
		RestartPolicy: policy,
		InitContainers: []corev1.Container{
			{Name: "once"}, {Name: "beside", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
		},
		Containers: []corev1.Container{{Name: "main", Image: "example.org/main:1"}},
	}
	return p
}

func holds(s corev1.PodStatus, kind corev1.PodConditionType) bool {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestAPodsStatus(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	up := facts{hostIP: "127.10.41.1", podIP: "10.41.1.2", mounted: true, ready: true, now: now}
	with := func(change func(*facts)) facts { f := up; change(&f); return f }
	for name, c := range map[string]struct {
		policy corev1.RestartPolicy
		facts  facts
		later  time.Duration
		phase  corev1.PodPhase
		ready  bool
	}{
		"runs":                                {corev1.RestartPolicyAlways, up, time.Hour, corev1.PodRunning, true},
		"waits for its volumes":               {corev1.RestartPolicyAlways, with(func(f *facts) { f.mounted = false }), time.Hour, corev1.PodPending, false},
		"waits for an address":                {corev1.RestartPolicyAlways, with(func(f *facts) { f.podIP = "" }), time.Hour, corev1.PodPending, false},
		"shows a program that is down":        {corev1.RestartPolicyAlways, with(func(f *facts) { f.ready = false }), time.Hour, corev1.PodRunning, false},
		"runs first when it is to end":        {corev1.RestartPolicyNever, up, 0, corev1.PodRunning, true},
		"has ended after a while":             {corev1.RestartPolicyNever, up, runsFor, corev1.PodSucceeded, false},
		"has ended that repeats its failures": {corev1.RestartPolicyOnFailure, up, runsFor, corev1.PodSucceeded, false},
	} {
		p := pod(c.policy)
		p.Status = status(p, c.facts)
		c.facts.now = now.Add(c.later)
		p.Status = status(p, c.facts)
		if p.Status.Phase != c.phase || holds(p.Status, corev1.PodReady) != c.ready {
			t.Errorf("a pod that %s: %s, ready %v", name, p.Status.Phase, holds(p.Status, corev1.PodReady))
		}
		if len(p.Status.ContainerStatuses) != 1 || len(p.Status.InitContainerStatuses) != 2 {
			t.Errorf("a pod that %s: statuses of %d containers and %d init containers", name, len(p.Status.ContainerStatuses), len(p.Status.InitContainerStatuses))
		}
		if !holds(p.Status, corev1.PodScheduled) {
			t.Errorf("a pod that %s is not scheduled", name)
		}
	}
}

func TestAStatusThatSaysTheSameIsTheSame(t *testing.T) {
	f := facts{hostIP: "127.10.41.1", podIP: "10.41.1.2", mounted: true, ready: true, now: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}
	p := pod(corev1.RestartPolicyAlways)
	p.Status = status(p, f)
	f.now = f.now.Add(time.Hour)
	if again := status(p, f); !equality.Semantic.DeepEqual(p.Status, again) {
		t.Errorf("an hour later it differs:\n%v\n%v", p.Status, again)
	}
}

func TestReadinessGatesAreWaitedFor(t *testing.T) {
	f := facts{hostIP: "127.10.41.1", podIP: "10.41.1.2", mounted: true, ready: true, now: time.Now()}
	p := pod(corev1.RestartPolicyAlways)
	p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.org/routed"}}
	p.Status = status(p, f)
	if holds(p.Status, corev1.PodReady) || !holds(p.Status, corev1.ContainersReady) {
		t.Errorf("with the gate closed: %v", p.Status.Conditions)
	}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.org/routed", Status: corev1.ConditionTrue})
	if p.Status = status(p, f); !holds(p.Status, corev1.PodReady) {
		t.Errorf("with the gate open: %v", p.Status.Conditions)
	}
}
