package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	testclock "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
)

// world is a management cluster that can go away, and a Model that watches it.
type world struct {
	*testing.T
	client client.WithWatch
	clock  *testclock.FakeClock
	model  *Model
	stop   context.CancelFunc
	woken  chan struct{}

	mu      sync.Mutex
	away    bool
	refuses string // a kind's list that the account may not read
	watches int
}

var shop = types.NamespacedName{Namespace: "team-a", Name: "shop"}

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, woken: make(chan struct{}, 1), clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 14, 32, 0, 0, time.UTC))}
	plain := fake.NewClientBuilder().WithScheme(scheme).Build()
	w.client = interceptor.NewClient(plain, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := w.trouble(""); err != nil {
				return err
			}
			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if err := w.trouble(fmt.Sprintf("%T", l)); err != nil {
				return err
			}
			return c.List(ctx, l, opts...)
		},
		Watch: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			if err := w.trouble(fmt.Sprintf("%T", l)); err != nil {
				return nil, err
			}
			got, err := c.Watch(ctx, l, opts...)
			w.mu.Lock()
			w.watches++
			w.mu.Unlock()
			w.wake("")
			return got, err
		},
	})
	w.model = New(Options{Client: w.client, Clock: w.clock, Changed: w.wake})
	return w
}

func (w *world) wake(What) {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

func (w *world) trouble(kind string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.away:
		return errors.New("dial tcp 192.0.2.1:6443: connect: no route to host")
	case kind != "" && kind == w.refuses:
		return apierrors.NewForbidden(schema.GroupResource{Resource: "machines"}, "", errors.New("no rule"))
	}
	return nil
}

func (w *world) set(change func(*world)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// begin watches, and waits until every kind is.
func (w *world) begin() {
	w.Helper()
	w.stop = w.model.watch(w.Context())
	w.Cleanup(func() { w.stop() })
}

func (w *world) watched(rounds int) {
	w.Helper()
	w.until("all kinds are watched", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.watches >= rounds*len(w.model.kinds)
	})
}

// pass lets time go by, with a look each time that one is due.
func (w *world) pass(d time.Duration) {
	w.Helper()
	for end := w.clock.Now().Add(d); w.clock.Now().Before(end); {
		w.clock.Step(probeEvery)
		w.stop = w.model.tend(w.Context(), w.stop)
	}
}

// until waits for what another goroutine brings.
func (w *world) until(what string, is func() bool) {
	w.Helper()
	late := time.After(20 * time.Second)
	for !is() {
		select {
		case <-w.woken:
		case <-late:
			w.Fatalf("never happened: %s", what)
		}
	}
}

// read is true while everything is as the management cluster has it.
func (w *world) read() bool {
	w.model.mu.RLock()
	defer w.model.mu.RUnlock()
	return w.model.complete()
}

func (w *world) create(list ...client.Object) {
	w.Helper()
	for _, o := range list {
		if err := w.client.Create(w.Context(), o); err != nil {
			w.Fatal(err)
		}
	}
}

func claim(key types.NamespacedName, phase v1alpha1.Phase) *v1alpha1.ClusterClaim {
	c := &v1alpha1.ClusterClaim{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	c.Status.Phase, c.Status.Message = phase, "Running; 5 of 5 nodes ready"
	c.Status.Inventory = []v1alpha1.ObjectReference{{Kind: "Cluster", Name: key.Name}}
	return c
}

func machine(cluster, name string) *clusterv1.Machine {
	m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster, clusterv1.MachineControlPlaneLabel: ""}}}
	m.Spec.Version, m.Spec.InfrastructureRef.Name, m.Status.NodeRef.Name = "v1.36.3", name, name
	m.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionTrue}}
	return m
}

func vm(cluster, name string, id int64) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"virtualMachineID": id, "numCores": int64(2), "numSockets": int64(1), "memoryMiB": int64(4096),
			"disks": map[string]any{"bootVolume": map[string]any{"disk": "scsi0", "sizeGb": float64(40)}}},
		"status": map[string]any{
			"proxmoxNode": "pve2",
			"addresses":   []any{map[string]any{"type": "Hostname", "address": name}, map[string]any{"type": "InternalIP", "address": "10.0.40.51"}},
			"conditions":  []any{map[string]any{"type": vmProvisioned, "status": "False", "reason": "Cloning", "lastTransitionTime": "2026-11-30T12:03:00Z"}},
		},
	}}
	u.SetGroupVersionKind(machines.Kind)
	u.SetNamespace("team-a")
	u.SetName(name)
	u.SetLabels(map[string]string{clusterv1.ClusterNameLabel: cluster})
	return u
}

func event(n int, kind, name, note string) *eventsv1.Event {
	return &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: fmt.Sprintf("%s.%d", name, n)},
		EventTime: metav1.NewMicroTime(time.Date(2026, 11, 30, 12, 0, n, 0, time.UTC)), Type: "Normal", Reason: "Happened", Note: note,
		Regarding: corev1.ObjectReference{Kind: kind, Namespace: "team-a", Name: name}}
}
