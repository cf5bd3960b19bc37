package sync

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kubehenge.dev/agent/apply"
	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
)

func systemNamespace() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("v1")
	u.SetKind("Namespace")
	u.SetName(v1alpha1.SystemNamespace)
	return u
}

// ensureNamespace makes a namespace once a process. Namespaces are shared by claims, so they carry no revision, are
// in no inventory and are never deleted.
func (r *Reconciler) ensureNamespace(ctx context.Context, want *unstructured.Unstructured) error {
	r.known.mu.Lock()
	known := r.known.namespaces[want.GetName()]
	r.known.mu.Unlock()
	if known {
		return nil
	}
	if _, err := r.applier.Apply(ctx, want, nil); err != nil {
		return err
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	r.known.namespaces[want.GetName()] = true
	return nil
}

// applyClaim applies namespace and claim first, so that everything later can be told at the claim.
func (r *Reconciler) applyClaim(ctx context.Context, s *scope) error {
	if !s.wanted.good() {
		return nil
	}
	for _, o := range s.objects("Namespace") {
		if err := r.ensureNamespace(ctx, o); err != nil {
			return err
		}
	}
	for _, o := range s.objects("ClusterClaim") {
		var live client.Object
		if s.claim != nil {
			live = s.claim
		}
		result, err := r.applyOne(ctx, s, s.stamped(o), live)
		if err != nil {
			return err
		}
		if result.Live == nil {
			continue
		}
		claim := &v1alpha1.ClusterClaim{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(result.Live.Object, claim); err != nil {
			return fmt.Errorf("decode claim %s: %w", s.key, err)
		}
		s.claim = claim
	}
	return nil
}

// stamped is an object with the commit that last changed it and the digest of what it was rendered to.
func (s *scope) stamped(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1alpha1.RevisionAnnotation] = s.revision
	annotations[apply.DigestAnnotation] = s.wanted.Digest
	if by := s.creator(); by != "" && (o.GetKind() == "ClusterClaim" || o.GetKind() == "Cluster") {
		annotations[v1alpha1.CreatedByAnnotation] = by
	}
	o.SetAnnotations(annotations)
	return o
}

// applyOne applies an object and tells what came of it.
func (r *Reconciler) applyOne(ctx context.Context, s *scope, want *unstructured.Unstructured, live client.Object) (apply.Result, error) {
	start := r.Clock.Now()
	result, err := r.applier.Apply(ctx, want, live)
	if err != nil || !result.Called {
		return result, err
	}
	if r.Observer != nil {
		r.Observer.Applied(want.GetKind(), r.Clock.Since(start))
	}
	s.changed = s.changed || result.Changed
	r.tellDrift(ctx, s, want, result.Drift)
	return result, nil
}

// tellDrift names who changed what, once for each manager. A version that was raised is not put back, and told in
// the claim's sentence instead.
func (r *Reconciler) tellDrift(ctx context.Context, s *scope, want *unstructured.Unstructured, drift []apply.Drift) {
	var managers []string
	fields := map[string]string{}
	for _, d := range drift {
		if d.Field == "spec.topology.version" && s.raised != "" {
			continue
		}
		if fields[d.Manager] == "" {
			managers = append(managers, d.Manager)
			fields[d.Manager] = d.Field
		} else {
			fields[d.Manager] += ", " + d.Field
		}
	}
	for _, m := range managers {
		log.FromContext(ctx).Info("Put back what somebody changed", "kind", want.GetKind(), "manager", m, "fields", fields[m])
		r.event(s, corev1.EventTypeWarning, "DriftCorrected", "Apply",
			fmt.Sprintf("%s %s: %s was changed by %s and is put back as Git has it", want.GetKind(), want.GetName(), fields[m], m))
	}
}

// applyCluster applies the Cluster, with the allocation in it from the first moment.
func (r *Reconciler) applyCluster(ctx context.Context, s *scope) error {
	if !s.keeps() {
		return nil
	}
	for _, o := range s.objects("Cluster") {
		want := s.stamped(o)
		if err := setAllocation(want, s.allocation); err != nil {
			return fmt.Errorf("add the allocation to cluster %s: %w", s.key, err)
		}
		s.raised = raisedVersion(want, s.cluster)
		if s.raised != "" {
			if err := unstructured.SetNestedField(want.Object, s.raised, "spec", "topology", "version"); err != nil {
				return fmt.Errorf("keep the version of cluster %s: %w", s.key, err)
			}
		}
		if err := r.allowed(s, want); err != nil {
			return err
		}
		var live client.Object
		if s.cluster != nil {
			live = s.cluster
		}
		result, err := r.applyOne(ctx, s, want, live)
		if err != nil {
			return err
		}
		if s.cluster == nil && result.Live != nil {
			cluster := &clusterv1.Cluster{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(result.Live.Object, cluster); err != nil {
				return fmt.Errorf("decode cluster %s: %w", s.key, err)
			}
			s.cluster = cluster
		}
	}
	return nil
}

// allowed is nil where the live Cluster may become what is wanted. What would be refused later is not applied, so that
// the cluster is not stuck halfway: all of the commit's change waits.
func (r *Reconciler) allowed(s *scope, want *unstructured.Unstructured) error {
	if r.Changes == nil || s.cluster == nil {
		return nil
	}
	cluster := &clusterv1.Cluster{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(want.Object, cluster); err != nil {
		return fmt.Errorf("decode cluster %s as Git has it: %w", s.key, err)
	}
	return r.Changes.Allow(s.cluster, cluster)
}

// applyExtras applies what stands beside the Cluster, and tells the revision that is now live.
func (r *Reconciler) applyExtras(ctx context.Context, s *scope) error {
	if !s.keeps() {
		return nil
	}
	for _, o := range s.objects("") {
		live, err := r.liveExtra(ctx, o)
		if err != nil {
			return err
		}
		if _, err := r.applyOne(ctx, s, s.stamped(o), live); err != nil {
			return err
		}
	}
	s.applied = true
	if s.claim != nil && s.claim.Status.ObservedRevision != s.revision && r.firstTold(s) {
		if r.Observer != nil {
			r.Observer.Synced(s.revision)
		}
		log.FromContext(ctx).Info("Applied", "revision", s.revision)
		r.event(s, corev1.EventTypeNormal, "Applied", "Apply", "Applied commit "+short(s.revision))
	}
	return nil
}

// firstTold is true once for each revision of a claim: the cache may still show the status before.
func (r *Reconciler) firstTold(s *scope) bool {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if r.known.told[s.key] == s.revision {
		return false
	}
	r.known.told[s.key] = s.revision
	return true
}

// liveExtra is an extra's metadata, from a cache that follows its kind from now on.
func (r *Reconciler) liveExtra(ctx context.Context, o *unstructured.Unstructured) (client.Object, error) {
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(o.GroupVersionKind())
	if r.Follow != nil {
		if err := r.Follow(ctx, meta.DeepCopy()); err != nil {
			return nil, fmt.Errorf("watch %s: %w", o.GetKind(), err)
		}
	}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(o), meta)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read %s %s: %w", o.GetKind(), client.ObjectKeyFromObject(o), err)
	}
	if err != nil {
		return nil, nil
	}
	return meta, nil
}

// tellRefusal says once for each revision that the management cluster does not take it.
func (r *Reconciler) tellRefusal(s *scope) {
	if s.stop.Kind != status.Terminal {
		return
	}
	r.known.mu.Lock()
	told := r.known.refused[s.key] == s.stop.Message
	r.known.refused[s.key] = s.stop.Message
	r.known.mu.Unlock()
	if !told {
		r.event(s, corev1.EventTypeWarning, "Refused", "Apply", s.stop.Message)
	}
}

func (r *Reconciler) event(s *scope, kind, reason, action, note string) {
	if r.Events == nil || s.claim == nil {
		return
	}
	const most = 1000 // the API's limit is 1,024 bytes
	if len(note) > most {
		note = note[:most]
	}
	r.Events.Eventf(s.claim, nil, kind, reason, action, "%s", note)
}
