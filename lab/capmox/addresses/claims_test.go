package addresses_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kubehenge.dev/lab/capmox"
	"kubehenge.dev/lab/capmox/addresses"
	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

var wanted = addresses.Wanted{Device: "net0", Pool: "shop-v4-icip", Gateway: true}

func objects() (*infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine) {
	return &infrav1.ProxmoxCluster{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "team-a", Name: "shop", UID: "infra",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "shop"}},
			},
			Spec: infrav1.ProxmoxClusterSpec{IPv4Config: &infrav1.IPConfigSpec{Addresses: []string{"10.0.0.0/24"}, Prefix: 24, Gateway: "10.0.0.1"}},
		}, &infrav1.ProxmoxMachine{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-1", UID: "machine"},
			Spec: infrav1.ProxmoxMachineSpec{Network: &infrav1.NetworkSpec{NetworkDevices: []infrav1.NetworkDevice{
				{Name: "net0", DefaultIPv4: ptr.To(true), DefaultIPv6: ptr.To(true)}, {Name: "net1"},
			}}},
		}
}

func world(t *testing.T) (client.Client, *infrav1.ProxmoxCluster, *infrav1.ProxmoxMachine) {
	t.Helper()
	cluster, machine := objects()
	owner := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop"}}
	c := fake.NewClientBuilder().WithScheme(capmox.Scheme()).WithObjects(cluster, machine, owner).Build()
	if err := addresses.SyncPools(context.Background(), c, cluster, time.Minute); err != nil {
		t.Fatal(err)
	}
	pool, err := addresses.Pool(context.Background(), c, cluster, addresses.IPv4)
	if err != nil {
		t.Fatal(err)
	}
	addresses.Record(cluster, pool)
	return c, cluster, machine
}

func TestAMachineWantsAnAddressOfEachRangeThatItsCardsAskFor(t *testing.T) {
	_, cluster, machine := world(t)
	got, err := addresses.WantedFor(cluster, machine)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]addresses.Wanted{wanted}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cluster.Status.InClusterZoneRef = nil
	if _, err := addresses.WantedFor(cluster, machine); err == nil {
		t.Error("no error though the cluster has no pools yet")
	}
}

func TestAClaimIsMadeOnceAndFilledLater(t *testing.T) {
	ctx := context.Background()
	c, cluster, machine := world(t)
	for range 2 {
		if a, err := addresses.Obtain(ctx, c, cluster, machine, wanted); a != nil || err != nil {
			t.Fatalf("address %v, %v; want neither yet", a, err)
		}
	}
	claim := &ipamv1.IPAddressClaim{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "team-a", Name: "shop-1-net0-00-inet"}, claim); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"labels":      map[string]string{"cluster.x-k8s.io/cluster-name": "shop", "topology.kubernetes.io/proxmox-zone": "default"},
		"annotations": map[string]string{"ipam.capmox.cluster.x-k8s.io/pool-ref-counter": "0", "ipam.capmox.cluster.x-k8s.io/default-gateway": "true"},
		"pool":        ipamv1.IPPoolReference{APIGroup: "ipam.cluster.x-k8s.io", Kind: "InClusterIPPool", Name: "shop-v4-icip"},
		"owner":       "shop-1",
		"finalizers":  0,
	}
	got := map[string]any{
		"labels": claim.Labels, "annotations": claim.Annotations, "pool": claim.Spec.PoolRef,
		"owner": metav1.GetControllerOf(claim).Name, "finalizers": len(claim.Finalizers),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claim (-want +got):\n%s", diff)
	}
	fill(t, c, claim, "shop-v4-icip")
	a, err := addresses.Obtain(ctx, c, cluster, machine, wanted)
	if err != nil || a == nil || a.Spec.Address != "10.0.0.7" {
		t.Fatalf("address %v, %v; want 10.0.0.7", a, err)
	}
	if a.Annotations[infrav1.DefaultGatewayAnnotation] != "true" {
		t.Errorf("annotations of the address are %v, want the claim's too", a.Annotations)
	}
}

func fill(t *testing.T, c client.Client, claim *ipamv1.IPAddressClaim, pool string) {
	t.Helper()
	address := &ipamv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: claim.Name},
		Spec: ipamv1.IPAddressSpec{
			Address: "10.0.0.7", Gateway: "10.0.0.1", Prefix: ptr.To[int32](24),
			PoolRef: ipamv1.IPPoolReference{APIGroup: "ipam.cluster.x-k8s.io", Kind: "InClusterIPPool", Name: pool},
		},
	}
	claim.Status.AddressRef.Name = address.Name
	for _, err := range []error{c.Create(context.Background(), address), c.Update(context.Background(), claim)} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAClaimThatCannotBeUsedIsAConflict(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*testing.T, client.Client, *ipamv1.IPAddressClaim)
		want  string
	}{
		"of another machine": {func(_ *testing.T, _ client.Client, claim *ipamv1.IPAddressClaim) {
			claim.OwnerReferences[0].UID = "another"
		}, "OwnerMismatch"},
		"of another pool": {func(_ *testing.T, _ client.Client, claim *ipamv1.IPAddressClaim) {
			claim.Spec.PoolRef.Name = "another"
		}, "PoolMismatch"},
		"with an address that is gone": {func(_ *testing.T, _ client.Client, claim *ipamv1.IPAddressClaim) {
			claim.Status.AddressRef.Name = "gone"
		}, `references a missing IPAddress "gone"`},
		"with an address of another pool": {func(t *testing.T, c client.Client, claim *ipamv1.IPAddressClaim) {
			fill(t, c, claim, "another")
		}, "AddressPoolRef"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			kube, cluster, machine := world(t)
			if _, err := addresses.Obtain(ctx, kube, cluster, machine, wanted); err != nil {
				t.Fatal(err)
			}
			claim := &ipamv1.IPAddressClaim{}
			if err := kube.Get(ctx, client.ObjectKey{Namespace: "team-a", Name: wanted.ClaimName("shop-1")}, claim); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, kube, claim)
			if err := kube.Update(ctx, claim); err != nil {
				t.Fatal(err)
			}
			_, err := addresses.Obtain(ctx, kube, cluster, machine, wanted)
			var conflict *addresses.Conflict
			if !errors.As(err, &conflict) || !strings.Contains(conflict.Message, c.want) {
				t.Errorf("error is %v, want a conflict with %q", err, c.want)
			}
		})
	}
}
