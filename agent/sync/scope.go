package sync

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/agent/apply"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

// scope is one claim while it is worked on.
type scope struct {
	// Set by collect.
	key     types.NamespacedName
	desired *Desired // nil before the first accepted commit
	wanted  *Wanted  // nil when no overlay renders the claim
	claim   *v1alpha1.ClusterClaim
	cluster *clusterv1.Cluster

	// Set by the phase "decide".
	life status.Life
	git  status.Git
	// revision is the commit that last changed the rendered bytes.
	revision string

	// Set by later phases.
	allocation *v1alpha1.Allocation
	inventory  []v1alpha1.ObjectReference
	raised     string
	applied    bool
	changed    bool
	removed    bool // the live claim is gone: there is nothing to report on

	// stop is why a phase could not go on.
	stop *status.Stop
}

// vmKind is capmox's machine; its module cannot be imported.
var vmKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha2", Kind: "ProxmoxMachine"}

// clusterIndex is the cache's index of machines by cluster.
const clusterIndex = "cluster"

// collect reads what is known of a claim; nil when there is neither a wish nor a live claim.
func (r *Reconciler) collect(ctx context.Context, key types.NamespacedName) (*scope, error) {
	s := &scope{key: key, desired: r.Store.Get()}
	if s.desired != nil {
		s.wanted = s.desired.Claims[key]
	}
	claim := &v1alpha1.ClusterClaim{}
	switch err := r.Client.Get(ctx, key, claim); {
	case err == nil:
		s.claim = claim
		s.allocation = claim.Status.Allocation
		s.inventory = claim.Status.Inventory
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("read claim %s: %w", key, err)
	case !s.wanted.good():
		return nil, nil
	}
	cluster := &clusterv1.Cluster{}
	switch err := r.Client.Get(ctx, key, cluster); {
	case err == nil:
		s.cluster = cluster
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("read cluster %s: %w", key, err)
	}
	return s, nil
}

func (s *scope) commit() string {
	if s.desired == nil {
		return ""
	}
	return s.desired.Commit
}

// keeps is true when there is something to apply for a cluster that is to exist.
func (s *scope) keeps() bool { return s.life == status.Kept && s.wanted.good() }

// objects are the wanted objects of one kind ("" for all that are neither Namespace, claim nor Cluster).
func (s *scope) objects(kind string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range s.wanted.Objects {
		special := o.GetKind() == "Namespace" || o.GetKind() == "ClusterClaim" || o.GetKind() == "Cluster"
		if o.GetKind() == kind || (kind == "" && !special) {
			out = append(out, o)
		}
	}
	return out
}

// revisionOf is the commit that last changed the wanted bytes: the live claim's, where it was applied from the
// same bytes, and otherwise the one that brought them.
func (s *scope) revisionOf() string {
	if s.claim != nil && s.claim.Annotations[apply.DigestAnnotation] == s.wanted.Digest {
		if live := s.claim.Annotations[v1alpha1.RevisionAnnotation]; live != "" {
			return live
		}
	}
	return s.wanted.Commit
}

// observed is everything of Cluster API and its provider that a status is made of.
type observed struct {
	controlPlane *controlplanev1.KubeadmControlPlane
	machines     []*clusterv1.Machine
	vms          []*unstructured.Unstructured
}

// observe reads the cluster's machines from the cache. The objects are shared with it: read only.
func (r *Reconciler) observe(ctx context.Context, s *scope) (observed, error) {
	var o observed
	if s.cluster == nil {
		return o, nil
	}
	mine := []client.ListOption{client.InNamespace(s.key.Namespace), client.MatchingFields{clusterIndex: s.key.Name}, client.UnsafeDisableDeepCopy}
	var planes controlplanev1.KubeadmControlPlaneList
	var machines clusterv1.MachineList
	vms := unstructured.UnstructuredList{}
	vms.SetGroupVersionKind(vmKind.GroupVersion().WithKind(vmKind.Kind + "List"))
	err := errors.Join(r.Client.List(ctx, &planes, mine...), r.Client.List(ctx, &machines, mine...), r.Client.List(ctx, &vms, mine...))
	if err != nil {
		return o, fmt.Errorf("read machines of %s: %w", s.key, err)
	}
	for i := range planes.Items {
		o.controlPlane = &planes.Items[i]
	}
	for i := range machines.Items {
		o.machines = append(o.machines, &machines.Items[i])
	}
	for i := range vms.Items {
		o.vms = append(o.vms, &vms.Items[i])
	}
	return o, nil
}
