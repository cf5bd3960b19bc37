package render

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/render/problem"
	"kubehenge.dev/render/strict"
)

// Problem is one reason why a file, or what it renders to, cannot be taken.
type Problem = problem.Problem

// Rendering is all that a tree asks for. Nothing in it may be changed: parts of it are shared with later renderings.
type Rendering struct {
	// Fleet is the platform's settings with defaults filled in; nil when clusters/fleet.yaml is missing or broken.
	Fleet *v1alpha1.Fleet
	// FleetProblems say why Fleet is nil. No overlay renders then.
	FleetProblems []Problem
	// Overlays are all overlays, sorted by Path. An overlay that did not change since the Renderer's last rendering is the same pointer.
	Overlays []*Overlay
	// Classes are the classes that overlays without problems use, by name.
	Classes map[string]*Class

	fleet *fleet // nil like Fleet
}

// Problems are all problems of the rendering: the Fleet's, then the overlays' in their order.
func (r *Rendering) Problems() []Problem {
	all := append([]Problem(nil), r.FleetProblems...)
	for _, o := range r.Overlays {
		all = append(all, o.Problems...)
	}
	return all
}

// Overlay is what one folder renders to.
type Overlay struct {
	// Path is the folder, such as clusters/team-a/shop.
	Path string
	// File is the file that holds the claim; the folder where that is not known.
	File string
	// Namespace and Name are the cluster's identity; empty when not known. They can be known with Problems too.
	Namespace, Name string
	// Claim is the claim with defaults filled in; nil when it cannot be decoded.
	Claim *v1alpha1.ClusterClaim
	// Objects are the Namespace, the ClusterClaim, the Cluster, then the rest by kind and name; nil with Problems. With state Deleted only
	// the first two.
	Objects []*unstructured.Unstructured
	// Digest is of the objects' bytes; empty with Problems.
	Digest string
	// Problems are why the overlay cannot be taken, sorted.
	Problems []Problem
	// Need is what the cluster takes of its network; zero with Problems or with state Deleted.
	Need Need

	sources []strict.Source // where the claim's fields may stand
}

// Problem is a problem of a field of the overlay's claim, such as spec.version, with the file and line where it is written.
func (o *Overlay) Problem(field, message string) Problem {
	tell := &teller{sources: o.sources, kind: "ClusterClaim"}
	tell.field(field, "%s", message)
	if tell.problems[0].Path == "" {
		tell.problems[0].Path = o.Path
	}
	return tell.problems[0]
}

// Need is how many machines a cluster can have at once, each with an address of its own.
type Need struct {
	// Nodes are the machines that the claim asks for.
	Nodes int
	// Surge are the machines that the class's rollouts may add: one for the control plane and one for each worker pool that has nodes.
	Surge int
}

// Addresses is the number of addresses that the cluster needs.
func (n Need) Addresses() int { return n.Nodes + n.Surge }
