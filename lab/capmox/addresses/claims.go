package addresses

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
)

// Wanted is one address a machine needs.
type Wanted struct {
	Device  string // network card
	Pool    string // InClusterIPPool
	Offset  int    // counts the card's addresses
	Gateway bool   // of the cluster's own range: its gateway is the default one
}

// ClaimName is the name of the machine's claim for it.
func (w Wanted) ClaimName(machine string) string {
	return fmt.Sprintf("%s-%s-%02d-inet", machine, w.Device, w.Offset)
}

// Conflict says that a claim of the expected name cannot be used; a person has to look at it.
type Conflict struct{ Message string }

// Error implements error.
func (c *Conflict) Error() string { return c.Message }

// WantedFor lists the addresses a machine needs, in order of its network cards.
func WantedFor(cluster *infrav1.ProxmoxCluster, machine *infrav1.ProxmoxMachine) ([]Wanted, error) {
	if len(cluster.Status.InClusterZoneRef) == 0 {
		return nil, fmt.Errorf("zone %s not found", infrav1.DefaultZone)
	}
	refs := cluster.Status.InClusterZoneRef[0]
	var all []Wanted
	for _, card := range machine.Spec.Network.NetworkDevices {
		n := 0
		add := func(pool string) {
			all = append(all, Wanted{Device: card.Name, Pool: pool, Offset: n, Gateway: true})
			n++
		}
		if ptr.Deref(card.DefaultIPv4, false) && refs.InClusterIPPoolRefV4 != nil {
			add(refs.InClusterIPPoolRefV4.Name)
		}
		if ptr.Deref(card.DefaultIPv6, false) && refs.InClusterIPPoolRefV6 != nil {
			add(refs.InClusterIPPoolRefV6.Name)
		}
	}
	return all, nil
}

// Find returns the address of a claim that is already there and filled; nil while it is not. A claim that
// cannot be used is a *Conflict.
func Find(ctx context.Context, c client.Client, machine *infrav1.ProxmoxMachine, w Wanted) (*ipamv1.IPAddress, error) {
	claim := &ipamv1.IPAddressClaim{}
	key := client.ObjectKey{Namespace: machine.Namespace, Name: w.ClaimName(machine.Name)}
	if err := c.Get(ctx, key, claim); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	switch {
	case !ownedBy(claim, machine):
		return nil, conflict(claim, "OwnerMismatch")
	case !fromPool(claim.Spec.PoolRef, w.Pool):
		return nil, conflict(claim, "PoolMismatch")
	case claim.Status.AddressRef.Name == "":
		return nil, nil
	}
	address := &ipamv1.IPAddress{}
	err := c.Get(ctx, client.ObjectKey{Namespace: claim.Namespace, Name: claim.Status.AddressRef.Name}, address)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &Conflict{fmt.Sprintf("Static IP claim %q references a missing IPAddress %q; delete the stale IPAddressClaim to allow recovery.", claim.Name, claim.Status.AddressRef.Name)}
	case err != nil:
		return nil, err
	case !fromPool(address.Spec.PoolRef, w.Pool):
		return nil, conflict(claim, "AddressPoolRef")
	}
	if address.Annotations == nil {
		address.Annotations = map[string]string{}
	}
	maps.Copy(address.Annotations, claim.Annotations) // what capmox knows of it is on the claim
	return address, nil
}

// Obtain is Find, and makes the claim when there is none.
func Obtain(ctx context.Context, c client.Client, cluster *infrav1.ProxmoxCluster, machine *infrav1.ProxmoxMachine, w Wanted) (*ipamv1.IPAddress, error) {
	key := client.ObjectKey{Namespace: machine.Namespace, Name: w.ClaimName(machine.Name)}
	err := c.Get(ctx, key, &ipamv1.IPAddressClaim{})
	if apierrors.IsNotFound(err) {
		if err := claim(ctx, c, cluster, machine, w); err != nil {
			return nil, fmt.Errorf("unable to create IP address claim for machine %s: %w", machine.Name, err)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Find(ctx, c, machine, w)
}

func claim(ctx context.Context, c client.Client, cluster *infrav1.ProxmoxCluster, machine *infrav1.ProxmoxMachine, w Wanted) error {
	pool := newPool(cluster.Namespace, w.Pool)
	if err := c.Get(ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
		return fmt.Errorf("unable to find %s %s for cluster %s: %w", PoolKind.Kind, w.Pool, machine.Name, err)
	}
	owner, err := util.GetOwnerCluster(ctx, c, cluster.ObjectMeta)
	if err != nil {
		return err
	}
	if owner == nil {
		return errors.New("the ProxmoxCluster has no Cluster")
	}
	labels := map[string]string{clusterv1.ClusterNameLabel: owner.Name}
	if zone, ok := pool.GetLabels()[infrav1.ZoneLabel]; ok {
		labels[infrav1.ZoneLabel] = zone
	}
	annotations := map[string]string{infrav1.PoolOffsetAnnotation: strconv.Itoa(w.Offset)}
	if w.Gateway {
		annotations[infrav1.DefaultGatewayAnnotation] = "true"
	}
	wanted := &ipamv1.IPAddressClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: machine.Namespace, Name: w.ClaimName(machine.Name), Labels: labels, Annotations: annotations},
		Spec:       ipamv1.IPAddressClaimSpec{PoolRef: ipamv1.IPPoolReference{APIGroup: PoolKind.Group, Kind: PoolKind.Kind, Name: w.Pool}},
	}
	if err := controllerutil.SetControllerReference(machine, wanted, c.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(c.Create(ctx, wanted))
}

func conflict(claim *ipamv1.IPAddressClaim, why string) *Conflict {
	return &Conflict{fmt.Sprintf("Static IP claim %q is conflicting (%s); inspect the IPAddressClaim ownership, poolRef, and referenced IPAddress before provisioning can continue.", claim.Name, why)}
}

func fromPool(ref ipamv1.IPPoolReference, pool string) bool {
	return ref.Name == pool && ref.APIGroup == PoolKind.Group && ref.Kind == PoolKind.Kind
}

func ownedBy(claim *ipamv1.IPAddressClaim, machine *infrav1.ProxmoxMachine) bool {
	for _, o := range claim.OwnerReferences {
		if o.UID == machine.UID && o.Kind == infrav1.ProxmoxMachineKind && o.Name == machine.Name {
			return true
		}
	}
	return false
}

// Metric reads the metric of the address's gateway off its pool; nil when it has none.
func Metric(ctx context.Context, c client.Client, address *ipamv1.IPAddress) (*int32, error) {
	pool := newPool(address.Namespace, address.Spec.PoolRef.Name)
	if err := c.Get(ctx, client.ObjectKeyFromObject(pool), pool); err != nil {
		return nil, err
	}
	for _, key := range []string{infrav1.GatewayMetricAnnotation, infrav1.OldMetricAnnotation} {
		text := pool.GetAnnotations()[key]
		if text == "" {
			continue
		}
		m, err := strconv.ParseInt(text, 0, 32)
		if err != nil {
			return nil, fmt.Errorf("error converting metric annotation, kind=%s, name=%s: %w", PoolKind.Kind, pool.GetName(), err)
		}
		return ptr.To(int32(m)), nil
	}
	return nil, nil
}
