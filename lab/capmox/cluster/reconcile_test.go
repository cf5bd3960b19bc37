package cluster_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/lab/capmox"
	"kubehenge.dev/lab/capmox/addresses"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/calls"
	"kubehenge.dev/lab/capmox/cluster"
	"kubehenge.dev/lab/capmox/session"
)

var key = client.ObjectKey{Namespace: "team-a", Name: "shop"}

// newCluster makes a reconciler whose calls nobody answers: a ProxmoxCluster needs none.
func newCluster(t *testing.T, change func(*infrav1.ProxmoxCluster), more ...client.Object) *cluster.Reconciler {
	t.Helper()
	infra := &infrav1.ProxmoxCluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name, UID: "infra",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "shop"}},
		},
		Spec: infrav1.ProxmoxClusterSpec{
			ControlPlaneEndpoint: infrav1.APIEndpoint{Host: "127.10.40.10", Port: 6443},
			IPv4Config:           &infrav1.IPConfigSpec{Addresses: []string{"127.10.41.10-127.10.41.19"}, Prefix: 22, Gateway: "127.10.40.1", Metric: ptr.To[int32](100)},
			DNSServers:           []string{"127.10.40.1"},
		},
	}
	change(infra)
	owner := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "shop"}}
	c := fake.NewClientBuilder().WithScheme(capmox.Scheme()).WithObjects(append(more, infra, owner)...).
		WithStatusSubresource(infra, owner).Build()
	return &cluster.Reconciler{Client: c, Sessions: &session.Sessions{Client: c, Global: &calls.Client{}}}
}

func look(t *testing.T, r *cluster.Reconciler) ctrl.Result {
	t.Helper()
	result, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func get[T client.Object](t *testing.T, r *cluster.Reconciler, object T, name string) T {
	t.Helper()
	if err := r.Client.Get(context.Background(), client.ObjectKey{Namespace: key.Namespace, Name: name}, object); err != nil {
		t.Fatal(err)
	}
	return object
}

func pool(t *testing.T, r *cluster.Reconciler) *unstructured.Unstructured {
	t.Helper()
	p := &unstructured.Unstructured{}
	p.SetGroupVersionKind(addresses.PoolKind)
	return get(t, r, p, "shop-v4-icip")
}

func unchanged(*infrav1.ProxmoxCluster) {}

func TestAClusterGetsItsPool(t *testing.T) {
	r := newCluster(t, unchanged)
	look(t, r)
	p := pool(t, r)
	want := map[string]any{
		"spec": map[string]any{
			"addresses": []any{"127.10.41.10-127.10.41.19"}, "prefix": int64(22), "gateway": "127.10.40.1", "addressReuseGracePeriodSeconds": int64(60),
		},
		"labels":      map[string]string{"topology.kubernetes.io/proxmox-zone": "default"},
		"annotations": map[string]string{"metric": "100", "ipam.capmox.cluster.x-k8s.io/gateway-metric": "100", "ipam.capmox.cluster.x-k8s.io/ip-family": "ipv4"},
		"owner":       "ProxmoxCluster shop",
	}
	owner := metav1.GetControllerOf(p)
	got := map[string]any{"spec": p.Object["spec"], "labels": p.GetLabels(), "annotations": p.GetAnnotations(), "owner": owner.Kind + " " + owner.Name}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pool (-want +got):\n%s", diff)
	}
	c := get(t, r, &infrav1.ProxmoxCluster{}, "shop")
	if !conditions.IsTrue(c, infrav1.ReadyCondition) || !ptr.Deref(c.Status.Initialization.Provisioned, false) {
		t.Errorf("status is %+v, want ready and provisioned", c.Status)
	}
	if diff := cmp.Diff([]infrav1.InClusterZoneRef{{Zone: ptr.To("default"), InClusterIPPoolRefV4: &corev1.LocalObjectReference{Name: "shop-v4-icip"}}}, c.Status.InClusterZoneRef); diff != "" {
		t.Errorf("zones (-want +got):\n%s", diff)
	}
}

func TestARangeThatGrowsInTheClusterGrowsInItsPool(t *testing.T) {
	r := newCluster(t, unchanged)
	look(t, r)
	c := get(t, r, &infrav1.ProxmoxCluster{}, "shop")
	c.Spec.IPv4Config.Addresses = append(c.Spec.IPv4Config.Addresses, "127.10.41.40-127.10.41.49")
	if err := r.Client.Update(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	look(t, r)
	got, _, err := unstructured.NestedStringSlice(pool(t, r).Object, "spec", "addresses")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"127.10.41.10-127.10.41.19", "127.10.41.40-127.10.41.49"}, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

func TestAClusterOfBothFamiliesGetsTwoPools(t *testing.T) {
	r := newCluster(t, func(c *infrav1.ProxmoxCluster) {
		c.Spec.IPv6Config = &infrav1.IPConfigSpec{Addresses: []string{"fd00::10-fd00::20"}, Prefix: 64, Gateway: "fd00::1"}
	})
	look(t, r)
	c := get(t, r, &infrav1.ProxmoxCluster{}, "shop")
	if diff := cmp.Diff([]corev1.LocalObjectReference{{Name: "shop-v4-icip"}, {Name: "shop-v6-icip"}}, c.Status.InClusterIPPoolRef); diff != "" {
		t.Errorf("pools (-want +got):\n%s", diff)
	}
	if z := c.Status.InClusterZoneRef; len(z) != 1 || z[0].InClusterIPPoolRefV6 == nil || z[0].InClusterIPPoolRefV6.Name != "shop-v6-icip" {
		t.Errorf("zones are %+v, want one with both pools", z)
	}
}

func TestAnEndpointFromOutsideIsWaitedFor(t *testing.T) {
	r := newCluster(t, func(c *infrav1.ProxmoxCluster) {
		c.Spec.ExternalManagedControlPlane, c.Spec.ControlPlaneEndpoint = ptr.To(true), infrav1.APIEndpoint{}
	})
	if after := look(t, r).RequeueAfter; after == 0 {
		t.Error("is not looked at again")
	}
	c := get(t, r, &infrav1.ProxmoxCluster{}, "shop")
	if got := conditions.GetReason(c, infrav1.ProxmoxAvailableCondition); got != infrav1.MissingControlPlaneEndpointReason {
		t.Errorf("reason is %s", got)
	}
}

func TestACredentialsSecretIsHeldUntilItsClusterIsGone(t *testing.T) {
	ctx := context.Background()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "shop-proxmox"}}
	r := newCluster(t, func(c *infrav1.ProxmoxCluster) { c.Spec.CredentialsRef = &corev1.SecretReference{Name: "shop-proxmox"} }, secret)
	look(t, r)
	held := get(t, r, &corev1.Secret{}, "shop-proxmox")
	if len(held.OwnerReferences) != 1 || held.OwnerReferences[0].Kind != "ProxmoxCluster" || len(held.Finalizers) != 1 {
		t.Fatalf("owners %v, finalizers %v; want the ProxmoxCluster's", held.OwnerReferences, held.Finalizers)
	}
	owner := get(t, r, &clusterv1.Cluster{}, "shop")
	owner.Finalizers = []string{"cluster.x-k8s.io"}
	for _, err := range []error{
		r.Client.Update(ctx, owner),
		r.Client.Delete(ctx, owner),
		r.Client.Delete(ctx, get(t, r, &infrav1.ProxmoxCluster{}, "shop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	look(t, r)
	if got := get(t, r, &corev1.Secret{}, "shop-proxmox").Finalizers; len(got) != 0 {
		t.Errorf("finalizers of the Secret are %v, want none", got)
	}
}

func TestACredentialsSecretThatIsMissingIsTold(t *testing.T) {
	r := newCluster(t, func(c *infrav1.ProxmoxCluster) { c.Spec.CredentialsRef = &corev1.SecretReference{Name: "gone"} })
	if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key}); err == nil {
		t.Error("no error")
	}
	c := get(t, r, &infrav1.ProxmoxCluster{}, "shop")
	if got := conditions.GetReason(c, infrav1.ProxmoxAvailableCondition); got != infrav1.CredentialsNotFoundReason {
		t.Errorf("reason is %s", got)
	}
}

func TestNoCredentialsAtAllAreTold(t *testing.T) {
	r := newCluster(t, unchanged)
	r.Sessions.Global = nil
	if _, err := r.Reconcile(context.Background(), ctrl.Request{NamespacedName: key}); err == nil {
		t.Error("no error")
	}
	c := get(t, r, &infrav1.ProxmoxCluster{}, "shop")
	if got := conditions.GetReason(c, infrav1.ProxmoxAvailableCondition); got != infrav1.CredentialsNotFoundReason {
		t.Errorf("reason is %s", got)
	}
}

func TestAClusterIsHeldWhileItHasMachines(t *testing.T) {
	ctx := context.Background()
	machine := &infrav1.ProxmoxMachine{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "m", Labels: map[string]string{clusterv1.ClusterNameLabel: "shop"}}}
	r := newCluster(t, unchanged, machine)
	look(t, r)
	infra := get(t, r, &infrav1.ProxmoxCluster{}, "shop")
	if err := r.Client.Delete(ctx, infra); err != nil {
		t.Fatal(err)
	}
	if after := look(t, r).RequeueAfter; after != 0 {
		t.Errorf("is looked at again after %s though its Cluster is not deleted", after)
	}
	owner := get(t, r, &clusterv1.Cluster{}, "shop")
	owner.Finalizers = []string{"cluster.x-k8s.io"}
	for _, err := range []error{r.Client.Update(ctx, owner), r.Client.Delete(ctx, owner)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if after := look(t, r).RequeueAfter; after == 0 {
		t.Error("is not looked at again though it has a machine")
	}
	if err := r.Client.Delete(ctx, machine); err != nil {
		t.Fatal(err)
	}
	look(t, r)
	if err := r.Client.Get(ctx, key, infra); !apierrors.IsNotFound(err) {
		t.Errorf("the ProxmoxCluster is still there: %v", err)
	}
}
