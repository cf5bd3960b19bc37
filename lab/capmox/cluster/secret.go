package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "kubehenge.dev/lab/capmox/api/v1alpha2"
	"kubehenge.dev/lab/capmox/session"
)

// holdSecret makes the cluster an owner of its Secret, which is thereby deleted with it, and keeps the Secret until then.
func (r *Reconciler) holdSecret(ctx context.Context, cluster *infrav1.ProxmoxCluster) error {
	if cluster.Spec.CredentialsRef == nil {
		return nil
	}
	return r.changeSecret(ctx, cluster, func(secret *corev1.Secret) {
		secret.SetOwnerReferences(util.EnsureOwnerRef(secret.GetOwnerReferences(), ownerRef(cluster)))
		controllerutil.AddFinalizer(secret, infrav1.SecretFinalizer)
	})
}

// releaseSecret lets go of the Secret; the last owner's leaving frees it.
func (r *Reconciler) releaseSecret(ctx context.Context, cluster *infrav1.ProxmoxCluster) error {
	if cluster.Spec.CredentialsRef == nil {
		return nil
	}
	ref := ownerRef(cluster)
	return client.IgnoreNotFound(r.changeSecret(ctx, cluster, func(secret *corev1.Secret) {
		owners := secret.GetOwnerReferences()
		if len(owners) > 1 {
			secret.SetOwnerReferences(util.RemoveOwnerRef(owners, ref))
			return
		}
		if util.HasOwnerRef(owners, ref) {
			controllerutil.RemoveFinalizer(secret, infrav1.SecretFinalizer)
		}
	}))
}

func (r *Reconciler) changeSecret(ctx context.Context, cluster *infrav1.ProxmoxCluster, change func(*corev1.Secret)) error {
	secret := &corev1.Secret{}
	if err := r.Client.Get(ctx, session.SecretKey(cluster), secret); err != nil {
		return err
	}
	helper, err := patch.NewHelper(secret, r.Client)
	if err != nil {
		return err
	}
	change(secret)
	return helper.Patch(ctx, secret)
}

func ownerRef(cluster *infrav1.ProxmoxCluster) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: infrav1.GroupVersion.String(), Kind: infrav1.ProxmoxClusterKind, Name: cluster.Name, UID: cluster.UID,
	}
}
