package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is kubehenge.dev/v1alpha1.
var GroupVersion = schema.GroupVersion{Group: "kubehenge.dev", Version: "v1alpha1"}

var schemeBuilder = runtime.NewSchemeBuilder(func(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &ClusterClaim{}, &ClusterClaimList{}, &Fleet{}, &FleetList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
})

// AddToScheme makes the kinds of this package known to a scheme.
var AddToScheme = schemeBuilder.AddToScheme
