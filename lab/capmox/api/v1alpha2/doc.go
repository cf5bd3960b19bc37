// Package v1alpha2 holds the kinds of infrastructure.cluster.x-k8s.io/v1alpha2 that capmox serves, with
// the fields kubehenge's classes use. capmox's own module cannot be imported by ours (its controllers
// are internal, its dependencies older), so the lab's stand-in has these types of its own; names, JSON
// fields, defaults and validations follow capmox at commit 38e3ded (api/v1alpha2 there).
//
// +kubebuilder:object:generate=true
// +groupName=infrastructure.cluster.x-k8s.io
package v1alpha2
