package providers

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Deployments are the providers of each distribution, by their names in the providers' own manifests. The agent's
// rights in agent/manifests name the same ones; a test sees to that.
var Deployments = map[string][]types.NamespacedName{
	"kubeadm": {
		{Namespace: "capi-kubeadm-bootstrap-system", Name: "capi-kubeadm-bootstrap-controller-manager"},
		{Namespace: "capi-kubeadm-control-plane-system", Name: "capi-kubeadm-control-plane-controller-manager"},
	},
}

// admitted are the API groups whose objects in a class these providers' webhooks admit.
var admitted = []string{"bootstrap.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"}

// distribution is a class's name without its revision.
func distribution(class string) string {
	if i := strings.LastIndex(class, "-"); i >= 0 {
		return class[:i]
	}
	return class
}

func isAdmitted(group string) bool { return slices.Contains(admitted, group) }
