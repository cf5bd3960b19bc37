package cluster_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kubehenge.dev/lab/guests/cluster"
)

func TestANodeIsNotReadyOnceItsMachineHasBeenOffForTheGracePeriod(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.10:6443", "a", "b")
	if err := c.Stopped(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(grace - time.Second)
	if got := c.ready(t, "b"); got != corev1.ConditionTrue {
		t.Errorf("Ready is %s before the grace period has ended, want True", got)
	}
	w.clock.Step(time.Second)
	eventually(t, "node b is not Ready", func() bool { return c.ready(t, "b") == corev1.ConditionUnknown })
	eventually(t, "its pods are not ready", func() bool { all, ready := c.pods(t, "b"); return all == 4 && ready == 0 })
	if err := c.Started(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if got := c.ready(t, "b"); got != corev1.ConditionTrue {
		t.Errorf("Ready is %s after the machine came back, want True", got)
	}
	if all, ready := c.pods(t, "b"); all != 4 || ready != 4 {
		t.Errorf("%d of %d pods are ready, want 4 of 4", ready, all)
	}
}

func TestAMachineThatComesBackInTimeIsNeverNotReady(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.11:6443", "a")
	if err := c.Stopped(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(grace / 2)
	if err := c.Started(ctx, "w"); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(grace)
	if w.clock.HasWaiters() {
		t.Error("a timer is still pending")
	}
	if got := c.ready(t, "w"); got != corev1.ConditionTrue {
		t.Errorf("Ready is %s, want True", got)
	}
}

func TestTheEndpointAnswersAsLongAsAControlPlaneMachineRuns(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.12:6443", "a", "b")
	steps := []struct {
		what string
		do   func(context.Context, string) error
		node string
		want bool
	}{
		{"one of two stops", c.Stopped, "a", true},
		{"a worker stops", c.Stopped, "w", true},
		{"the other stops", c.Stopped, "b", false},
		{"a worker starts", c.Started, "w", false},
		{"one starts", c.Started, "a", true},
		{"the other is destroyed", c.Destroyed, "b", true},
		{"the last is destroyed", c.Destroyed, "a", false},
	}
	for _, step := range steps {
		if err := step.do(ctx, step.node); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if got := listens(c.Endpoint()); got != step.want {
			t.Fatalf("%s: the endpoint listens: %v, want %v", step.what, got, step.want)
		}
	}
	if w.registry.At(c.Endpoint()) != nil {
		t.Error("the cluster outlives its last control-plane machine")
	}
	if w.clock.HasWaiters() {
		t.Error("a timer outlives the cluster")
	}
}

func TestADestroyedMachineLeavesItsNodeButNoPods(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.13:6443", "a", "b")
	if err := c.Destroyed(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	if all, _ := c.pods(t, "b"); all != 0 {
		t.Errorf("%d pods are left, want none", all)
	}
	w.clock.Step(grace)
	eventually(t, "node b is not Ready", func() bool { return c.ready(t, "b") == corev1.ConditionUnknown })
	if err := c.client.CoreV1().Nodes().Delete(ctx, "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Started(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	nodes, err := c.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 {
		t.Errorf("%d nodes, error %v, want 2", len(nodes.Items), err)
	}
}

func TestANodeThatWasDeletedComesBackWithItsMachine(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.14:6443", "a")
	if err := c.client.CoreV1().Nodes().Delete(ctx, "w", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, do := range []func(context.Context, string) error{c.Stopped, c.Started} {
		if err := do(ctx, "w"); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.ready(t, "w"); got != corev1.ConditionTrue {
		t.Errorf("Ready is %s, want True", got)
	}
}

func TestJoinRefusesTheNameOfAReadyNode(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	c := w.start(t, "127.78.40.15:6443", "a")
	if err := c.Join(ctx, cluster.Node{Name: "w"}); !errors.Is(err, cluster.ErrNodeReady) {
		t.Errorf("error %v, want %v", err, cluster.ErrNodeReady)
	}
}

func TestCreateRefusesEndpoints(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	w.start(t, "127.78.40.16:6443", "a")
	cases := map[string]struct {
		endpoint string
		want     error
	}{
		"that another cluster has":   {"127.78.40.16:6443", cluster.ErrEndpointTaken},
		"beyond loopback":            {"192.0.2.1:6443", cluster.ErrNotLoopback},
		"on all interfaces":          {"0.0.0.0:6443", cluster.ErrNotLoopback},
		"that are names":             {"localhost:6443", cluster.ErrNotLoopback},
		"without a port":             {"127.78.40.17", cluster.ErrNotLoopback},
		"whose port may be anything": {"127.78.40.17:0", cluster.ErrNotLoopback},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := w.registry.Create(ctx, spec(t, newData(t, "other", c.endpoint))); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
	if _, err := w.registry.Create(ctx, spec(t, newData(t, "other", "127.78.40.17:6443"))); err != nil {
		t.Errorf("a free endpoint: %v", err)
	}
}

func TestCloseLeavesNoPort(t *testing.T) {
	w := newWorld(t)
	c := w.start(t, "127.78.40.18:6443", "a")
	w.registry.Close()
	if listens(c.Endpoint()) {
		t.Error("the endpoint listens after Close")
	}
	if err := c.Started(context.Background(), "a"); err != nil || listens(c.Endpoint()) {
		t.Errorf("a machine wakes a cluster that has gone: error %v", err)
	}
}
