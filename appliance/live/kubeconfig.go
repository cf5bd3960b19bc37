package live

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/told"
)

var (
	// ErrNoKubeconfig says that the cluster has none yet.
	ErrNoKubeconfig = told.Define("no-kubeconfig", "the cluster has no kubeconfig yet; it has one once its control plane answers").With(nil).Because(nil)
	// ErrAway says that the management cluster cannot be asked.
	ErrAway = told.Define("management-away", "the management cluster does not answer, or does not let the appliance read kubeconfigs; try again later").With(nil).Because(nil)
)

// secretTimeout is how long reading a Secret may take.
const secretTimeout = 10 * time.Second

// Kubeconfig reads the administrator's kubeconfig of a cluster from its copy in v1alpha1.KubeconfigNamespace. It is secret, and nothing of it is kept.
// The error is ErrNoKubeconfig or ErrAway.
func (m *Model) Kubeconfig(ctx context.Context, cluster types.NamespacedName) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	s := &corev1.Secret{}
	at := types.NamespacedName{Namespace: v1alpha1.KubeconfigNamespace, Name: v1alpha1.KubeconfigCopy(cluster.Namespace, cluster.Name)}
	err := m.opts.Client.Get(ctx, at, s)
	switch {
	case apierrors.IsNotFound(err) || err == nil && len(s.Data["value"]) == 0:
		return nil, fmt.Errorf("%s: %w", cluster, ErrNoKubeconfig)
	case err != nil:
		m.opts.Log.Error("kubeconfig not read", "cluster", cluster.String(), "reason", err)
		return nil, fmt.Errorf("%s: %w", cluster, ErrAway)
	}
	return s.Data["value"], nil
}
