package kubeconfigs

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
)

// A kubeconfig that is not there yet is looked for often, one that is there now and then: its certificate is renewed once in half a year, and Secrets are
// read by name only, never watched.
const (
	soon  = 15 * time.Second
	later = 10 * time.Minute
)

// valueKey is the key under which Cluster API keeps a kubeconfig, and the copy too.
const valueKey = "value"

// suffix ends the name of the Secret with a cluster's kubeconfig (cluster-api util/secret/consts.go).
const suffix = "-kubeconfig"

// Copier keeps the copy of one cluster's kubeconfig after another.
type Copier struct {
	// Client reads clusters from the cache, and writes.
	Client client.Client
	// Direct reads Secrets; they are in no cache.
	Direct client.Reader
}

// Reconcile brings the copy of a cluster's kubeconfig to what the cluster has.
func (c *Copier) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cluster := &clusterv1.Cluster{}
	err := c.Client.Get(ctx, req.NamespacedName, cluster)
	switch {
	case apierrors.IsNotFound(err) || err == nil && cluster.Labels[v1alpha1.ClaimLabel] == "":
		return ctrl.Result{}, c.remove(ctx, req.NamespacedName)
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("read cluster %s: %w", req.NamespacedName, err)
	}
	original := &corev1.Secret{}
	err = c.Direct.Get(ctx, types.NamespacedName{Namespace: req.Namespace, Name: req.Name + suffix}, original)
	if apierrors.IsNotFound(err) || err == nil && !usable(original, req.Name) {
		return ctrl.Result{RequeueAfter: soon}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read the kubeconfig of %s: %w", req.NamespacedName, err)
	}
	if err := c.write(ctx, req.NamespacedName, original.Data[valueKey]); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: later}, nil
}

// usable is true for a Secret that Cluster API wrote for this cluster and that holds something.
func usable(s *corev1.Secret, cluster string) bool {
	return s.Type == clusterv1.ClusterSecretType && s.Labels[clusterv1.ClusterNameLabel] == cluster && len(s.Data[valueKey]) > 0
}

// write applies the copy. Applying what is there already changes nothing.
func (c *Copier) write(ctx context.Context, cluster types.NamespacedName, kubeconfig []byte) error {
	key := v1alpha1.KubeconfigCopy(cluster.Namespace, cluster.Name)
	was := &corev1.Secret{}
	err := c.Direct.Get(ctx, types.NamespacedName{Namespace: v1alpha1.KubeconfigNamespace, Name: key}, was)
	if err == nil && string(was.Data[valueKey]) == string(kubeconfig) {
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the copied kubeconfig of %s: %w", cluster, err)
	}
	s := applycorev1.Secret(key, v1alpha1.KubeconfigNamespace).WithType(corev1.SecretTypeOpaque).
		WithLabels(map[string]string{v1alpha1.ClaimLabel: cluster.Name}).WithData(map[string][]byte{valueKey: kubeconfig})
	err = c.Client.Apply(ctx, s, client.FieldOwner(v1alpha1.KubeconfigFieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("copy the kubeconfig of %s: %w", cluster, err)
	}
	return nil
}

// remove takes the copy away; that there is none is success.
func (c *Copier) remove(ctx context.Context, cluster types.NamespacedName) error {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.KubeconfigNamespace, Name: v1alpha1.KubeconfigCopy(cluster.Namespace, cluster.Name)}}
	if err := c.Client.Delete(ctx, s); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the copied kubeconfig of %s: %w", cluster, err)
	}
	return nil
}
