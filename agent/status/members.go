package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

// member is one machine of a cluster.
type member struct {
	name    string
	pool    string // empty for the control plane
	created time.Time

	stage    stage
	waits    string // what it waits for, such as "waits for its boot"
	since    time.Time
	trouble  string // what Proxmox VE or the provider says against it
	terminal bool   // only a person, or a health check, helps

	leaving bool
	current bool // is as the claim asks
}

// done is true for a machine that is as the claim asks and whose node is ready.
func (m *member) done() bool { return m.stage == stageReady && m.current && !m.leaving }

// pool is a group of machines and how many of them are wanted.
type pool struct {
	name    string // empty for the control plane
	wanted  int
	members []*member
}

// noun is what the pool's things are called, such as "control-plane VMs".
func (p *pool) noun(thing string) string {
	switch p.name {
	case "":
		return "control-plane " + thing
	case "workers":
		return "worker " + thing
	}
	return thing + " of pool " + p.name
}

// reached counts the pool's staying machines that are at stage s or beyond.
func (p *pool) reached(s stage) int {
	n := 0
	for _, m := range p.members {
		if m.stage >= s && !m.leaving {
			n++
		}
	}
	return n
}

// roster is all machines of a cluster by pool, the control plane first.
type roster struct {
	pools []*pool
}

// newRoster sorts the machines into the pools that the claim asks for; machines of a pool that it no longer
// asks for are in a pool with wanted 0.
func newRoster(in *Input) *roster {
	r := &roster{pools: wantedPools(in.Claim.Spec)}
	vms := map[string]*unstructured.Unstructured{}
	for _, vm := range in.VMs {
		vms[vm.GetName()] = vm
	}
	version := in.Claim.Spec.Version
	if in.RaisedVersion != "" {
		version = in.RaisedVersion
	}
	for _, machine := range in.Machines {
		m := newMember(machine, vms[machine.Spec.InfrastructureRef.Name], version, in.Now)
		if m.pool != "" && m.waits == waitsForBootstrapData && !initialized(in) {
			m.waits = waitsForControlPlane
		}
		p := r.pool(m.pool)
		p.members = append(p.members, m)
	}
	for _, p := range r.pools {
		slices.SortFunc(p.members, func(a, b *member) int {
			return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.name, b.name))
		})
	}
	return r
}

// initialized is true once workers can join.
func initialized(in *Input) bool {
	if in.Cluster == nil || in.Cluster.Status.Initialization.ControlPlaneInitialized == nil {
		return false
	}
	return *in.Cluster.Status.Initialization.ControlPlaneInitialized
}

func wantedPools(spec v1alpha1.ClusterClaimSpec) []*pool {
	pools := []*pool{{wanted: int(spec.ControlPlane.Replicas)}}
	if spec.Workers != nil {
		pools = append(pools, &pool{name: "workers", wanted: int(spec.Workers.Replicas)})
	}
	for _, p := range spec.Pools {
		pools = append(pools, &pool{name: p.Name, wanted: int(p.Replicas)})
	}
	return pools
}

func newMember(machine *clusterv1.Machine, vm *unstructured.Unstructured, version string, now time.Time) *member {
	m := &member{name: machine.Name, created: machine.CreationTimestamp.Time}
	if _, ok := machine.Labels[clusterv1.MachineControlPlaneLabel]; !ok {
		m.pool = machine.Labels[clusterv1.ClusterTopologyMachineDeploymentNameLabel]
	}
	m.locate(machine, vm)
	// A machine made a moment ago has no UpToDate condition yet; it is then as its version says.
	upToDate := meta.FindStatusCondition(machine.Status.Conditions, clusterv1.MachineUpToDateCondition)
	m.current = machine.Spec.Version == version && (upToDate == nil || upToDate.Status != metav1.ConditionFalse)
	if !machine.DeletionTimestamp.IsZero() {
		m.leave(machine, vm, now)
	}
	return m
}

// usualDeletion is how long a VM's deletion may go without a word. capmox asks for the removal before the VM has
// stopped, is refused, says DeletionFailed without a reason, and asks again; that is how every deletion goes.
const usualDeletion = time.Minute

// leave says what a machine that is being deleted waits for.
func (m *member) leave(machine *clusterv1.Machine, vm *unstructured.Unstructured, now time.Time) {
	m.leaving, m.since = true, machine.DeletionTimestamp.Time
	m.waits, m.trouble, m.terminal = "is being deleted", "", false
	c := meta.FindStatusCondition(machine.Status.Conditions, clusterv1.DeletingCondition)
	if c != nil && c.Reason == clusterv1.MachineDeletingDrainingNodeReason {
		m.waits = "is being drained"
	}
	if c := vmCondition(vm); c != nil && c.Reason == "DeletionFailed" && (c.Message != "" || now.Sub(m.since) > usualDeletion) {
		m.waits, m.trouble = failed[c.Reason].waits, explainProvider(c.Message)
	}
}

func (r *roster) pool(name string) *pool {
	for _, p := range r.pools {
		if p.name == name {
			return p
		}
	}
	p := &pool{name: name}
	r.pools = append(r.pools, p)
	return p
}

// all calls visit for each machine, the control plane first.
func (r *roster) all(visit func(*member)) {
	for _, p := range r.pools {
		for _, m := range p.members {
			visit(m)
		}
	}
}

func (r *roster) count(is func(*member) bool) int {
	n := 0
	r.all(func(m *member) {
		if is(m) {
			n++
		}
	})
	return n
}

func (r *roster) wanted() int {
	n := 0
	for _, p := range r.pools {
		n += p.wanted
	}
	return n
}

func (r *roster) ready() int {
	return r.count(func(m *member) bool { return m.stage == stageReady && !m.leaving })
}

func (r *roster) doneNodes() int { return r.count((*member).done) }

// settled is true when exactly the wanted machines exist and each is as the claim asks, whether or not its
// node is ready just now.
func (r *roster) settled() bool {
	for _, p := range r.pools {
		if len(p.members) != p.wanted {
			return false
		}
	}
	return r.count(func(m *member) bool { return m.leaving || !m.current || m.stage < stageJoining }) == 0
}

// troubled is the first machine that something speaks against; nil when none.
func (r *roster) troubled() *member {
	var found *member
	r.all(func(m *member) {
		if found == nil && m.trouble != "" {
			found = m
		}
	})
	return found
}

// next is the first pool that is not as wanted, and the machine in it that is waited for (nil when the machine
// does not exist yet); nil, nil when all are.
func (r *roster) next() (*pool, *member) {
	for _, p := range r.pools {
		for _, m := range p.members {
			if m.leaving || m.stage != stageReady {
				return p, m
			}
		}
		if len(p.members) != p.wanted {
			return p, nil
		}
		for _, m := range p.members {
			if !m.current {
				return p, nil
			}
		}
	}
	return nil, nil
}

// sentence says what the machine waits for, such as "shop-cp-x7k2 waits for its boot since 12:03".
func (m *member) sentence(now time.Time) string {
	s := fmt.Sprintf("%s %s%s", m.name, m.waits, since(m.since, now))
	if m.trouble != "" {
		s = fmt.Sprintf("%s %s: %s", m.name, m.waits, m.trouble)
		if !m.terminal {
			s += "; trying again" + since(m.since, now)
		}
	}
	return s
}
