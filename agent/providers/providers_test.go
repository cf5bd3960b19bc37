package providers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	testclock "k8s.io/utils/clock/testing"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kubehenge.dev/agent/manifests"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/agent/sync"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render"
)

// world is a management cluster whose webhooks serve while both providers have an instance and have come up.
type world struct {
	t         *testing.T
	kube      client.WithWatch
	clock     *testclock.FakeClock
	p         *Providers
	webhooks  bool
	desired   *sync.Desired
	woken     int
	collected []string
}

func newWorld(t *testing.T, replicas int32) *world {
	t.Helper()
	w := &world{t: t, clock: testclock.NewFakeClock(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, autoscalingv1.AddToScheme, clusterv1.AddToScheme, controlplanev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(_ context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			o := &client.ApplyOptions{}
			for _, opt := range opts {
				opt.ApplyToApply(o)
			}
			if len(o.DryRun) == 0 {
				t.Error("an object was written; the agent's sync does that")
			}
			if !w.webhooks {
				return apierrors.NewInternalError(errors.New(`failed calling webhook "x": connect: connection refused`))
			}
			return nil
		},
	})
	for _, key := range Deployments["kubeadm"] {
		b = b.WithObjects(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: appsv1.DeploymentSpec{Replicas: &replicas}})
	}
	w.kube = b.Build()
	w.start()
	return w
}

// start is a leader that has just begun.
func (w *world) start() {
	w.p = &Providers{Client: w.kube, Direct: w.kube, Desired: func() *sync.Desired { return w.desired }, Clock: w.clock, Wake: func() { w.woken++ },
		Collect: func(ctx context.Context, class string) error {
			w.collected = append(w.collected, class)
			return w.kube.Delete(ctx, &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.SystemNamespace, Name: class}})
		}}
	w.p.Prepare()
}

// replicas are those of both providers.
func (w *world) replicas() [2]int32 {
	w.t.Helper()
	var out [2]int32
	for i, key := range Deployments["kubeadm"] {
		d := &appsv1.Deployment{}
		if err := w.kube.Get(w.t.Context(), key, d); err != nil {
			w.t.Fatal(err)
		}
		out[i] = *d.Spec.Replicas
	}
	return out
}

func class() *render.Class {
	template := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlaneTemplate",
		"metadata": map[string]any{"name": "kubeadm-1", "namespace": v1alpha1.SystemNamespace}}}
	return &render.Class{Name: "kubeadm-1", Distribution: "kubeadm", Objects: []*unstructured.Unstructured{template}}
}

func (w *world) ensure() string {
	w.t.Helper()
	err := w.p.Ensure(w.t.Context(), class())
	var told *status.Told
	switch {
	case err == nil:
		return "serve"
	case errors.As(err, &told) && told.Kind == status.Waiting:
		return told.Sentence
	}
	return err.Error()
}

func (w *world) wants(replicas [2]int32, answer string) {
	w.t.Helper()
	if got := w.ensure(); got != answer {
		w.t.Errorf("got %q, want %q", got, answer)
	}
	if got := w.replicas(); got != replicas {
		w.t.Errorf("replicas %v, want %v", got, replicas)
	}
}

func TestTheFirstClusterStartsItsDistributionsProvidersAndWaitsForTheirWebhooks(t *testing.T) {
	w := newWorld(t, 0)
	w.wants([2]int32{1, 1}, "starting kubeadm's providers")
	w.p.greet(t.Context())
	w.wants([2]int32{1, 1}, "starting kubeadm's providers")
	if w.woken != 0 {
		t.Error("claims were woken too early")
	}
	w.webhooks = true
	w.p.greet(t.Context())
	w.wants([2]int32{1, 1}, "serve")
	if w.woken != 1 {
		t.Errorf("claims were woken %d times", w.woken)
	}
}

func TestProvidersThatServeAreNotWaitedFor(t *testing.T) {
	w := newWorld(t, 2)
	w.webhooks = true
	w.wants([2]int32{2, 2}, "serve")
}

func TestAnAgentKilledAfterScalingGoesOnWaiting(t *testing.T) {
	w := newWorld(t, 0)
	w.wants([2]int32{1, 1}, "starting kubeadm's providers")
	w.start()
	w.wants([2]int32{1, 1}, "starting kubeadm's providers")
	w.webhooks = true
	w.start()
	w.wants([2]int32{1, 1}, "serve")
}

func TestADistributionWithoutProvidersOfItsOwnWaitsForNothing(t *testing.T) {
	w := newWorld(t, 0)
	if err := w.p.Ensure(t.Context(), &render.Class{Name: "other-1", Distribution: "other"}); err != nil {
		t.Error(err)
	}
}

// restFor lets the leader look for use until some time has passed.
func (w *world) restFor(d time.Duration) {
	w.t.Helper()
	for end := w.clock.Now().Add(d); !w.clock.Now().After(end); w.clock.Step(useInterval) {
		if err := w.p.rest(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

func TestProvidersAreNotStoppedBeforeGitIsKnown(t *testing.T) {
	w := newWorld(t, 1)
	w.restFor(10 * time.Minute)
	if got := w.replicas(); got != [2]int32{1, 1} {
		t.Errorf("replicas %v", got)
	}
}

func TestWhatUsesADistribution(t *testing.T) {
	claim := func(class string, state v1alpha1.State) *sync.Desired {
		c := &v1alpha1.ClusterClaim{Spec: v1alpha1.ClusterClaimSpec{Class: class, State: state}}
		return &sync.Desired{Claims: map[types.NamespacedName]*sync.Wanted{{Name: "shop"}: {Claim: c}}}
	}
	for _, c := range []struct {
		sentence string
		desired  *sync.Desired
		live     client.Object
		runs     bool
	}{
		{"nothing stops them", &sync.Desired{}, nil, false},
		{"a claim in Git keeps them", claim("kubeadm-1", v1alpha1.StateRunning), nil, true},
		{"one of another distribution does not", claim("rke2-1", v1alpha1.StateRunning), nil, false},
		{"nor does one that is to be deleted", claim("kubeadm-1", v1alpha1.StateDeleted), nil, false},
		{"but its cluster does until it is gone", claim("kubeadm-1", v1alpha1.StateDeleted), liveCluster("kubeadm-1"), true},
		{"a cluster that left Git keeps them", &sync.Desired{}, liveCluster("kubeadm-2"), true},
		{"a control plane that somebody else made keeps them", &sync.Desired{}, &controlplanev1.KubeadmControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "b"}}, true},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			w := newWorld(t, 1)
			w.webhooks = true
			w.desired = c.desired
			if c.live != nil {
				if err := w.kube.Create(t.Context(), c.live); err != nil {
					t.Fatal(err)
				}
			}
			w.restFor(unusedFor + 2*useInterval)
			if got := w.replicas() == [2]int32{1, 1}; got != c.runs {
				t.Errorf("they run: %v, want %v", got, c.runs)
			}
		})
	}
}

func liveCluster(class string) *clusterv1.Cluster {
	c := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop"}}
	c.Spec.Topology.ClassRef = clusterv1.ClusterClassRef{Name: class, Namespace: v1alpha1.SystemNamespace}
	return c
}

func TestClassesGoBeforeTheProvidersThatAdmitThem(t *testing.T) {
	w := newWorld(t, 1)
	w.webhooks = true
	left := &clusterv1.ClusterClass{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.SystemNamespace, Name: "kubeadm-1", Labels: map[string]string{v1alpha1.ClassLabel: "kubeadm-1"}}}
	if err := w.kube.Create(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	w.desired = &sync.Desired{}
	w.restFor(unusedFor)
	if diff := cmp.Diff([]string{"kubeadm-1"}, w.collected); diff != "" {
		t.Error(diff)
	}
	if got := w.replicas(); got != [2]int32{1, 1} {
		t.Errorf("they were stopped in the same look: %v", got)
	}
	w.restFor(useInterval)
	if got := w.replicas(); got != [2]int32{0, 0} {
		t.Errorf("replicas %v", got)
	}
	// The next cluster starts them again.
	w.webhooks = false
	w.wants([2]int32{1, 1}, "starting kubeadm's providers")
}

// TestTheAgentMayScaleTheseProvidersAndNothingElseOfThem reads the agent's rights.
func TestTheAgentMayScaleTheseProvidersAndNothingElseOfThem(t *testing.T) {
	data, err := manifests.Files.ReadFile("30-providers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var role rbacv1.Role
		err := decoder.Decode(&role)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range role.Rules {
			if diff := cmp.Diff([][]string{{"apps"}, {"deployments/scale"}, {"get", "update"}}, [][]string{r.APIGroups, r.Resources, r.Verbs}); diff != "" {
				t.Error(diff)
			}
			for _, name := range r.ResourceNames {
				got = append(got, role.Namespace+"/"+name)
			}
			if len(r.ResourceNames) == 0 {
				t.Errorf("a rule in %s names no Deployment", role.Namespace)
			}
		}
	}
	for _, list := range Deployments {
		for _, key := range list {
			want = append(want, key.String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	all, err := manifests.Files.ReadFile("20-rbac.yaml")
	if err != nil || strings.Contains(string(all), "deployments") {
		t.Errorf("other rules name Deployments: %v", err)
	}
}
