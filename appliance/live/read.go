package live

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kubehenge.dev/api/v1alpha1"
)

// Claims are all live claims, by namespace and name. The map is the caller's, what it holds is not to be changed.
func (m *Model) Claims() map[types.NamespacedName]*Claim {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make(map[types.NamespacedName]*Claim, len(m.tables.claims.rows))
	for key, c := range m.tables.claims.rows {
		all[key] = c
	}
	return all
}

// Claim is one live claim; nil where there is none, or it is not known.
func (m *Model) Claim(key types.NamespacedName) *Claim {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.tables.claims.rows[key]
}

// Fleet is the live Fleet; nil where there is none, or it is not known.
func (m *Model) Fleet() *Fleet {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.tables.fleets.rows[types.NamespacedName{Name: v1alpha1.FleetName}]
}

// Templates are the Kubernetes versions with a VM template, by what begins the templates' tags; nothing where that is not known.
func (m *Model) Templates() []v1alpha1.Templates {
	if f := m.Fleet(); f != nil {
		return f.Status.Templates
	}
	return nil
}

// Cluster is all that is known of one cluster. What it holds is not to be changed.
func (m *Model) Cluster(key types.NamespacedName) *Cluster {
	m.mu.RLock()
	defer m.mu.RUnlock()
	t := m.tables
	c := &Cluster{Claim: t.claims.rows[key], Object: t.clusters.rows[key]}
	about := []subject{{"ClusterClaim", key.Namespace, key.Name}, {"Cluster", key.Namespace, key.Name}}
	for at, p := range t.controls.rows {
		if at.Namespace == key.Namespace && p.Cluster == key.Name {
			c.ControlPlane, about = p, append(about, subject{"KubeadmControlPlane", at.Namespace, at.Name})
		}
	}
	for at, d := range t.deployments.rows {
		if at.Namespace == key.Namespace && d.Cluster == key.Name {
			c.Deployments, about = append(c.Deployments, d), append(about, subject{"MachineDeployment", at.Namespace, at.Name})
		}
	}
	for at, machine := range t.machines.rows {
		if at.Namespace == key.Namespace && machine.Cluster == key.Name {
			c.Machines, about = append(c.Machines, t.withVM(at, machine)), append(about, subject{"Machine", at.Namespace, at.Name})
		}
	}
	for at, vm := range t.vms.rows {
		if at.Namespace == key.Namespace && vm.Cluster == key.Name {
			about = append(about, subject{"ProxmoxMachine", at.Namespace, at.Name})
		}
	}
	slices.SortFunc(c.Deployments, func(a, b *Deployment) int { return cmp.Compare(a.Pool, b.Pool) })
	slices.SortFunc(c.Machines, inOrder)
	c.Events = t.events.about(append(about, t.events.gone(key)...))
	return c
}

// withVM is a copy of a machine with its VM.
func (t *tables) withVM(at types.NamespacedName, machine *Machine) *Machine {
	m := *machine
	m.VM = t.vms.rows[types.NamespacedName{Namespace: at.Namespace, Name: m.vm}]
	return &m
}

func inOrder(a, b *Machine) int {
	return cmp.Or(first(b.ControlPlane)-first(a.ControlPlane), cmp.Compare(a.Pool, b.Pool), a.Created.Compare(b.Created), cmp.Compare(a.Name, b.Name))
}

func first(is bool) int {
	if is {
		return 1
	}
	return 0
}
