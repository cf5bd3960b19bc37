package status

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

// Life is what the agent is doing with a cluster as a whole.
type Life int

const (
	// Kept is a cluster that is to exist.
	Kept Life = iota
	// Leaving is a cluster that is being deleted.
	Leaving
	// Gone is a deleted cluster of which Proxmox VE shows nothing any more.
	Gone
)

// Presence is how a claim stands to Git.
type Presence int

const (
	// InGit is a claim that an overlay renders.
	InGit Presence = iota
	// Vanished is a claim that an overlay rendered once and none does now; its cluster is kept.
	Vanished
	// Pruned is a vanished claim whose cluster goes, since the Fleet says so.
	Pruned
	// NeverInGit is a claim that no overlay ever rendered.
	NeverInGit
)

// Git is what Git says about a claim.
type Git struct {
	// Presence is how the claim stands to Git.
	Presence Presence
	// Problem is why the overlay at the tip does not render, with file and line; empty when it does.
	Problem string
	// WantsRunning is true when Git asks for a running cluster, while the last one is still being deleted.
	WantsRunning bool
}

// Kind is what becomes of an error.
type Kind int

const (
	// Waiting is no error: something else has to happen first, and does by itself.
	Waiting Kind = iota
	// Transient is an error that trying again may cure.
	Transient
	// Terminal is an error that only a person cures.
	Terminal
)

// Step is a part of the agent's work on a claim that can be stopped.
type Step string

// The steps that can be stopped.
const (
	StepProviders  Step = "providers"
	StepClass      Step = "class"
	StepCorner     Step = "corner"
	StepAllocation Step = "allocation"
	StepApply      Step = "apply"
	StepPrune      Step = "prune"
	StepDelete     Step = "delete"
	StepRelease    Step = "release"
)

// Stop is why the agent could not go on with a claim.
type Stop struct {
	// Step is where it stopped.
	Step Step
	// Kind says what becomes of it.
	Kind Kind
	// Reason is one CamelCase word for the condition.
	Reason string
	// Message is the plain sentence, without a time and without a full stop.
	Message string
	// Quiet is a stop of a moment that nobody needs to read of: the next try comes at once.
	Quiet bool
}

// Input is everything that a claim's status is made of.
type Input struct {
	// Claim is the claim: the specification that is wanted, and the status as it was last written.
	Claim *v1alpha1.ClusterClaim
	// Git is what Git says about it.
	Git Git
	// Life is what the agent does with the cluster.
	Life Life
	// Stop is why the agent could not go on; nil when it could.
	Stop *Stop
	// Applied is true when the live objects are what Git says.
	Applied bool
	// RaisedVersion is the live Kubernetes version, where it is above the one Git asks for; empty otherwise.
	RaisedVersion string
	// Revision is the commit that last changed the claim's rendered bytes, once it is applied; empty keeps the old one.
	Revision string
	// Allocation is what is reserved for the cluster; nil when nothing is.
	Allocation *v1alpha1.Allocation
	// Notices are what other parts of the agent have to say, the most urgent first.
	Notices []Notice
	// Inventory names the applied objects.
	Inventory []v1alpha1.ObjectReference

	// Cluster is the live Cluster; nil when there is none.
	Cluster *clusterv1.Cluster
	// ControlPlane is its control plane; nil when there is none.
	ControlPlane *controlplanev1.KubeadmControlPlane
	// Machines are its machines.
	Machines []*clusterv1.Machine
	// VMs are its ProxmoxMachines, which no importable Go type describes.
	VMs []*unstructured.Unstructured

	// Now is the time; sentences are told in its location.
	Now time.Time
}
