package live

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	eventsv1 "k8s.io/api/events/v1"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/api/v1alpha1"
)

// What is a part of the page that has something new.
type What string

// The parts.
const (
	// Clusters are the clusters that live objects tell of.
	Clusters What = "clusters"
	// Platform is the Fleet and what of Kubernetes there is to choose from.
	Platform What = "fleet"
	// Tasks are Proxmox VE's; they change when VMs do.
	Tasks What = "tasks"
)

// kind is one kind of object that is watched.
type kind struct {
	// name is what people call these objects.
	name string
	// tells are the parts of the page that show them.
	tells []What
	// list is an empty list of them.
	list func() client.ObjectList
	// rows is what is kept of them.
	rows rows
}

// rows keeps what is shown of the objects of one kind. It tells whether that changed.
type rows interface {
	// trim is what is kept of an object; nil for nothing.
	trim(client.Object) any
	set(types.NamespacedName, any) bool
	remove(types.NamespacedName) bool
	replace(map[types.NamespacedName]any) bool
}

// tables is everything that is kept. A Model guards it.
type tables struct {
	claims      table[*v1alpha1.ClusterClaim, Claim]
	fleets      table[*v1alpha1.Fleet, Fleet]
	clusters    table[*clusterv1.Cluster, Object]
	controls    table[*controlplanev1.KubeadmControlPlane, ControlPlane]
	deployments table[*clusterv1.MachineDeployment, Deployment]
	machines    table[*clusterv1.Machine, Machine]
	vms         table[*unstructured.Unstructured, VM]
	events      eventTable
}

func newTables() *tables {
	t := &tables{
		claims: newTable(trimClaim), fleets: newTable(trimFleet), clusters: newTable(trimCluster),
		controls: newTable(trimControlPlane), deployments: newTable(trimDeployment), machines: newTable(trimMachine), vms: newTable(trimVM),
		events: eventTable{of: map[subject]map[types.NamespacedName]*Event{}, at: map[types.NamespacedName]subject{}, former: map[subject]types.NamespacedName{}},
	}
	// What happened to a machine that was replaced is still told, where its cluster was known.
	t.machines.left = func(key types.NamespacedName, m *Machine) { t.events.outlive("Machine", key, m.Cluster) }
	t.vms.left = func(key types.NamespacedName, vm *VM) { t.events.outlive("ProxmoxMachine", key, vm.Cluster) }
	return t
}

// kinds are the kinds that are watched. The account's rights are those of the manifests for it; a test compares them.
func (t *tables) kinds() []*kind {
	clusters, platform := []What{Clusters}, []What{Platform, Clusters}
	return []*kind{
		{"claims", clusters, func() client.ObjectList { return &v1alpha1.ClusterClaimList{} }, &t.claims},
		{"the Fleet", platform, func() client.ObjectList { return &v1alpha1.FleetList{} }, &t.fleets},
		{"clusters", clusters, func() client.ObjectList { return &clusterv1.ClusterList{} }, &t.clusters},
		{"control planes", clusters, func() client.ObjectList { return &controlplanev1.KubeadmControlPlaneList{} }, &t.controls},
		{"worker pools", clusters, func() client.ObjectList { return &clusterv1.MachineDeploymentList{} }, &t.deployments},
		{"machines", clusters, func() client.ObjectList { return &clusterv1.MachineList{} }, &t.machines},
		{"VMs", []What{Clusters, Tasks}, vmList, &t.vms},
		{"events", clusters, func() client.ObjectList { return &eventsv1.EventList{} }, &t.events},
	}
}

func vmList() client.ObjectList {
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(machines.Kind.GroupVersion().WithKind(machines.Kind.Kind + "List"))
	return l
}
