package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is infrastructure.cluster.x-k8s.io/v1alpha2.
var GroupVersion = schema.GroupVersion{Group: "infrastructure.cluster.x-k8s.io", Version: "v1alpha2"}

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&ProxmoxCluster{}, &ProxmoxClusterList{},
		&ProxmoxClusterTemplate{}, &ProxmoxClusterTemplateList{},
		&ProxmoxMachine{}, &ProxmoxMachineList{},
		&ProxmoxMachineTemplate{}, &ProxmoxMachineTemplateList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
