package ha

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/agent/machines"
	"kubehenge.dev/proxmox"
)

// sight is a look at shop with n joined control-plane machines on nodes pve1, pve2, ... whose VMs run, none in HA.
func sight(n int) *look {
	l := &look{Cluster: &machines.Cluster{Key: shop, Object: &clusterv1.Cluster{}}, on: true, nodes: []string{"pve1", "pve2", "pve3"}, online: []string{"pve1", "pve2", "pve3"}, guests: map[int]proxmox.Machine{},
		manager: manager{known: true, nodes: []string{"pve1", "pve2", "pve3"}, resources: map[string]proxmox.HAResource{}}, outFor: func(*machines.Machine) time.Duration { return 0 }}
	for i := 1; i <= n; i++ {
		node := fmt.Sprintf("pve%d", i)
		l.Machines = append(l.Machines, &machines.Machine{Namespace: "team-a", Cluster: "shop", Name: fmt.Sprintf("cp-%d", i), ControlPlane: true, Joined: true,
			Created: time.Unix(int64(i), 0), VM: machines.VM{ID: i, Name: fmt.Sprintf("cp-%d", i), Node: node}})
		l.guests[i] = proxmox.Machine{VMID: i, Node: node, Status: "running"}
	}
	return l
}

func (l *look) put(vmid int, comment string) {
	l.manager.resources[sid(vmid)] = proxmox.HAResource{ID: sid(vmid), State: "started", Comment: comment}
}

// String is a plan on one line.
func (p plan) String() string {
	var parts []string
	for _, h := range p.hold {
		parts = append(parts, "hold "+h.Name)
	}
	for _, m := range p.free {
		parts = append(parts, "free "+m.Name)
	}
	for _, m := range p.mark {
		parts = append(parts, "mark "+m.Name)
	}
	for _, m := range p.unmark {
		parts = append(parts, "unmark "+m.Name)
	}
	for _, id := range p.out {
		parts = append(parts, "out "+id)
	}
	for _, r := range p.in {
		parts = append(parts, strings.TrimSuffix(fmt.Sprintf("in %s %s as %s", r.ID, r.Group, r.State), "  as started"))
	}
	for _, r := range p.rules {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Type, strings.Join(r.Resources, ","), strings.Join(r.Nodes, ","))))
	}
	if p.group != nil {
		parts = append(parts, fmt.Sprintf("%s restricted=%v %s", p.group.ID, p.group.Restricted, strings.Join(p.group.Nodes, ",")))
	}
	return strings.Join(parts, "; ")
}

const ours = "Kubehenge team-a.shop"

func TestAPlanIs(t *testing.T) {
	for name, c := range map[string]struct {
		machines int
		change   func(*look)
		want     string
	}{
		"nothing for a control plane of none": {0, func(*look) {}, ""},
		"no rule for a single VM":             {1, func(*look) {}, "hold cp-1; in vm:1"},
		"rules for three": {3, func(*look) {},
			"hold cp-1; hold cp-2; hold cp-3; in vm:1; in vm:2; in vm:3; resource-affinity vm:1,vm:2,vm:3"},
		"no rule before the HA manager knows a node": {3, func(l *look) { l.manager.nodes = nil },
			"hold cp-1; hold cp-2; hold cp-3; in vm:1; in vm:2; in vm:3"},
		"the eldest apart where nodes are few": {4, func(*look) {},
			"hold cp-1; hold cp-2; hold cp-3; hold cp-4; in vm:1; in vm:2; in vm:3; in vm:4; resource-affinity vm:1,vm:2,vm:3"},
		"a VM whose node is off may be started beside another": {3, func(l *look) { l.allIn(); l.online = []string{"pve2", "pve3"} },
			"resource-affinity vm:2,vm:3"},
		"apart by the nodes that the cluster may use": {3, func(l *look) { l.allowed = []string{"pve3", "pve1", "typo"} },
			"hold cp-1; hold cp-2; hold cp-3; in vm:1; in vm:2; in vm:3; node-affinity vm:1,vm:2,vm:3 pve1,pve3; resource-affinity vm:1,vm:2"},
		"one node has no room for apart": {2, func(l *look) { l.allowed = []string{"pve3"} },
			"hold cp-1; hold cp-2; in vm:1; in vm:2; node-affinity vm:1,vm:2 pve3"},
		"nothing for nodes that are not there": {1, func(l *look) { l.allowed = []string{"typo"} }, "hold cp-1; in vm:1"},
		"nothing for a worker":                 {1, func(l *look) { l.Machines[0].ControlPlane = false }, ""},
		"nothing before the node has joined":   {1, func(l *look) { l.Machines[0].Joined = false }, ""},
		"nothing for a VM that is off":         {1, func(l *look) { l.set(1, "stopped", "pve1") }, ""},
		"a VM in HA that is off stays":         {1, func(l *look) { l.set(1, "stopped", "pve1"); l.put(1, ours); l.Machines[0].Hook = inHA }, ""},
		"nothing without the HA manager":       {3, func(l *look) { l.manager = manager{} }, ""},
		"a person's resource stays as it is": {1, func(l *look) { l.put(1, "by hand"); l.Machines[0].Hook = inHA },
			""},
		"a person's resource stays when HA is off": {1, func(l *look) { l.put(1, "by hand"); l.on = false; l.Machines[0].Hook = inHA }, ""},
		"a person's resource goes with its machine": {1, func(l *look) { l.put(1, "by hand"); l.Machines[0].Leaving = time.Unix(9, 0); l.Machines[0].Hook = inHA },
			"out vm:1"},
		"a worker that a person put into HA is held": {1, func(l *look) { l.Machines[0].ControlPlane = false; l.put(1, "by hand") }, "hold cp-1"},
		"ours goes when HA is off":                   {1, func(l *look) { l.put(1, ours); l.on = false; l.Machines[0].Hook = inHA }, "out vm:1"},
		"ours of a machine that vanished goes":       {1, func(l *look) { l.put(1, ours); l.put(7, ours); l.Machines[0].Hook = inHA }, "out vm:7"},
		"another cluster's is not touched":           {1, func(l *look) { l.put(7, "Kubehenge team-b.shop"); l.on = false }, ""},
		"held while the HA manager may still move it": {1, func(l *look) { l.hooked(inHA, crmCycle-1) },
			""},
		"free once the HA manager has let go":        {1, func(l *look) { l.hooked(inHA, crmCycle) }, "free cp-1"},
		"held while the HA manager cannot be asked":  {1, func(l *look) { l.hooked(inHA, crmCycle); l.manager = manager{} }, ""},
		"a move alone needs no HA manager to end":    {1, func(l *look) { l.hooked(moved, 0); l.manager = manager{} }, "free cp-1"},
		"held while the provider has another node":   {1, func(l *look) { l.hooked(inHA, time.Hour); l.set(1, "running", "pve2") }, "mark cp-1"},
		"a VM that is gone holds nothing":            {1, func(l *look) { l.hooked(inHA, time.Hour); delete(l.guests, 1) }, "free cp-1"},
		"a moved VM is marked and held":              {1, func(l *look) { l.on = false; l.set(1, "running", "pve2") }, "hold cp-1; mark cp-1"},
		"a marked one is not marked again":           {1, func(l *look) { l.hooked(moved, 0); l.set(1, "running", "pve2"); l.Machines[0].VM.Mark = "pve2" }, ""},
		"a mark that has done its work goes":         {1, func(l *look) { l.on = false; l.Machines[0].VM.Mark = "pve1" }, "unmark cp-1"},
		"nothing before the provider records a node": {1, func(l *look) { l.on = false; l.Machines[0].VM.Node = "" }, ""},
		"the eldest apart, whatever their names": {4, func(l *look) {
			l.allIn()
			l.Machines[0].Created = time.Unix(9, 0)
			l.set(4, "running", "pve1")
			l.Machines[3].VM.Node = "pve1"
		},
			"resource-affinity vm:2,vm:3,vm:4"},
		"a worker that a person put into HA leaves it with its cluster": {1, func(l *look) { l.leave(); l.Machines[0].ControlPlane = false; l.put(1, "by hand") },
			"hold cp-1; out vm:1"},
		"in 8.4 a VM joins its group where it stands": {1, func(l *look) { l.grouped("started", ours) },
			"in vm:1 kubehenge-nodes-team-a_shop as started; kubehenge-nodes-team-a_shop restricted=true pve1,pve2"},
		"in 8.4 a VM that is off joins its group and stays off": {1, func(l *look) { l.grouped("stopped", ours) },
			"in vm:1 kubehenge-nodes-team-a_shop as stopped; kubehenge-nodes-team-a_shop restricted=true pve1,pve2"},
		"in 8.4 a person's resource stays in no group": {1, func(l *look) { l.grouped("started", "by hand") },
			"kubehenge-nodes-team-a_shop restricted=true pve1,pve2"},
		"a cluster that is gone leaves nothing": {0, func(l *look) { l.Cluster = &machines.Cluster{Key: shop}; l.put(5, ours) },
			"out vm:5"},
	} {
		t.Run(name, func(t *testing.T) {
			l := sight(c.machines)
			c.change(l)
			if got := newPlan(l).String(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// allIn has all machines in HA already.
func (l *look) allIn() {
	for _, m := range l.Machines {
		l.put(m.VM.ID, ours)
		m.Hooked, m.Hook = true, inHA
	}
}

func (l *look) set(vmid int, status, node string) {
	l.guests[vmid] = proxmox.Machine{VMID: vmid, Status: status, Node: node}
}

// hooked is a machine that is being deleted, whose VM has been out of HA for so long.
func (l *look) hooked(why string, out time.Duration) {
	l.Machines[0].Hooked, l.Machines[0].Hook, l.Machines[0].Leaving = true, why, time.Unix(9, 0)
	l.outFor = func(*machines.Machine) time.Duration { return out }
}

// leave has the cluster be deleted.
func (l *look) leave() {
	l.Cluster.Object.DeletionTimestamp = &metav1.Time{Time: time.Unix(9, 0)}
}

// grouped is Proxmox VE 8.4 with all VMs in HA and in no group, though the cluster may use two nodes only.
func (l *look) grouped(state, comment string) {
	l.allIn()
	l.manager.grouped, l.allowed = true, []string{"pve1", "pve2"}
	for id := range l.manager.resources {
		l.manager.resources[id] = proxmox.HAResource{ID: id, State: state, Comment: comment}
	}
}
