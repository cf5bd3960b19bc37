package hooks

import (
	"context"

	"k8s.io/utils/clock"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	hooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
)

// handler is the function that answers a lifecycle hook, in the form that Cluster API's server wants for it.
func (h hook) handler(now clock.PassiveClock) runtimecatalog.Hook {
	switch h.name {
	case "before-cluster-create":
		return func(_ context.Context, q *hooksv1.BeforeClusterCreateRequest, r *hooksv1.BeforeClusterCreateResponse) {
			h.answer(asked{&q.Cluster, q.Cluster.Spec.Topology.Version, q.Settings}, r, now)
		}
	case "before-cluster-upgrade":
		return func(_ context.Context, q *hooksv1.BeforeClusterUpgradeRequest, r *hooksv1.BeforeClusterUpgradeResponse) {
			h.answer(asked{&q.Cluster, q.ToKubernetesVersion, q.Settings}, r, now)
		}
	case "before-cluster-delete":
		return func(_ context.Context, q *hooksv1.BeforeClusterDeleteRequest, r *hooksv1.BeforeClusterDeleteResponse) {
			h.answer(asked{&q.Cluster, q.Cluster.Spec.Topology.Version, q.Settings}, r, now)
		}
	}
	return nil
}

// answer makes the hook's checks and says what is waited for.
func (h hook) answer(a asked, r hooksv1.RetryResponseObject, now clock.PassiveClock) {
	w := first(h.checks, a)
	r.SetStatus(hooksv1.ResponseStatusSuccess)
	r.SetMessage(w.sentence)
	r.SetRetryAfterSeconds(w.seconds(a.cluster, now.Now()))
}
