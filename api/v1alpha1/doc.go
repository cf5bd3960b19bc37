// Package v1alpha1 holds the kinds of kubehenge.dev: the ClusterClaim, what a person writes to have a
// cluster, and the Fleet, the platform's settings. Both are written in Git; the agent applies them and
// writes only their status.
//
// +kubebuilder:object:generate=true
// +groupName=kubehenge.dev
package v1alpha1
