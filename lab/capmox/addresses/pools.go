// Package addresses makes a cluster's address pools and a machine's address claims, for the in-cluster
// IPAM provider to fill, named and labelled as capmox does (pkg/kubernetes/ipam at 38e3ded).
package addresses

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// PoolKind is the in-cluster IPAM provider's pool. Its module is not imported: it pulls in another set of
// Kubernetes libraries, and a handful of fields is all that is used.
var PoolKind = schema.GroupVersionKind{Group: "ipam.cluster.x-k8s.io", Version: "v1alpha2", Kind: "InClusterIPPool"}

// Family is an address family.
type Family struct {
	Suffix string // in pool names
	Name   string // in annotations
}

// The address families.
var (
	IPv4 = Family{Suffix: "v4", Name: "ipv4"}
	IPv6 = Family{Suffix: "v6", Name: "ipv6"}
)

// PoolName is the name of a cluster's pool.
func PoolName(cluster string, f Family) string { return fmt.Sprintf("%s-%s-icip", cluster, f.Suffix) }

// SyncPools makes the cluster's pools what its spec says, each time anew: a range that grew in the
// ProxmoxCluster grows in the pool. An address stays unused for grace, in whole seconds, after its machine is gone.
func SyncPools(ctx context.Context, c client.Client, cluster *infrav1.ProxmoxCluster, grace time.Duration) error {
	for _, config := range []*infrav1.IPConfigSpec{cluster.Spec.IPv4Config, cluster.Spec.IPv6Config} {
		if config == nil {
			continue
		}
		if len(config.Addresses) == 0 {
			return errors.New("an IP config has no addresses")
		}
		f, err := familyOf(config.Addresses[0])
		if err != nil {
			return fmt.Errorf("address range %q: %w", config.Addresses[0], err)
		}
		if err := syncPool(ctx, c, cluster, f, config, grace); err != nil {
			return fmt.Errorf("address pool %s/%s: %w", cluster.Namespace, PoolName(cluster.Name, f), err)
		}
	}
	return nil
}

func syncPool(ctx context.Context, c client.Client, cluster *infrav1.ProxmoxCluster, f Family, config *infrav1.IPConfigSpec, grace time.Duration) error {
	pool := newPool(cluster.Namespace, PoolName(cluster.Name, f))
	_, err := controllerutil.CreateOrUpdate(ctx, c, pool, func() error {
		if pool.GetResourceVersion() == "" {
			pool.SetLabels(map[string]string{infrav1.ZoneLabel: infrav1.DefaultZone})
		}
		annotations := pool.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		metric := ""
		if m := ptr.Deref(config.Metric, -1); m >= 0 {
			metric = strconv.Itoa(int(m))
		}
		annotations[infrav1.OldMetricAnnotation] = metric
		annotations[infrav1.GatewayMetricAnnotation] = metric
		annotations[infrav1.IPFamilyAnnotation] = f.Name
		pool.SetAnnotations(annotations)
		pool.Object["spec"] = poolSpec(config, grace)
		return controllerutil.SetControllerReference(cluster, pool, c.Scheme())
	})
	return err
}

func poolSpec(config *infrav1.IPConfigSpec, grace time.Duration) map[string]any {
	addresses := make([]any, len(config.Addresses))
	for i, a := range config.Addresses {
		addresses[i] = a
	}
	return map[string]any{
		"addresses":                      addresses,
		"prefix":                         int64(config.Prefix),
		"gateway":                        config.Gateway,
		"addressReuseGracePeriodSeconds": int64(math.Ceil(grace.Seconds())),
	}
}

func newPool(namespace, name string) *unstructured.Unstructured {
	pool := &unstructured.Unstructured{}
	pool.SetGroupVersionKind(PoolKind)
	pool.SetNamespace(namespace)
	pool.SetName(name)
	return pool
}

// Pool reads one of a cluster's pools.
func Pool(ctx context.Context, c client.Client, cluster *infrav1.ProxmoxCluster, f Family) (*unstructured.Unstructured, error) {
	pool := newPool(cluster.Namespace, PoolName(cluster.Name, f))
	return pool, c.Get(ctx, client.ObjectKeyFromObject(pool), pool)
}

// Record notes a pool in the cluster's status.
func Record(cluster *infrav1.ProxmoxCluster, pool *unstructured.Unstructured) {
	ref := corev1.LocalObjectReference{Name: pool.GetName()}
	s := &cluster.Status
	if !containsRef(s.InClusterIPPoolRef, ref) {
		s.InClusterIPPoolRef = append(s.InClusterIPPoolRef, ref)
	}
	if len(s.InClusterZoneRef) == 0 {
		s.InClusterZoneRef = []infrav1.InClusterZoneRef{{Zone: ptr.To(infrav1.DefaultZone)}}
	}
	switch pool.GetAnnotations()[infrav1.IPFamilyAnnotation] {
	case IPv4.Name:
		s.InClusterZoneRef[0].InClusterIPPoolRefV4 = &ref
	case IPv6.Name:
		s.InClusterZoneRef[0].InClusterIPPoolRefV6 = &ref
	}
}

func containsRef(refs []corev1.LocalObjectReference, ref corev1.LocalObjectReference) bool {
	for _, r := range refs {
		if r == ref {
			return true
		}
	}
	return false
}

// familyOf tells the family of an address, range or network by its first address.
func familyOf(address string) (Family, error) {
	first := address
	if i := strings.IndexAny(address, "-/"); i >= 0 {
		first = address[:i]
	}
	ip, err := netip.ParseAddr(first)
	if err != nil {
		return Family{}, err
	}
	if ip.Is4() {
		return IPv4, nil
	}
	return IPv6, nil
}
