package cluster

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/history"
	"kubehenge.dev/appliance/live"
)

// at is so many seconds after the claim was applied.
func at(seconds int) time.Time {
	return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

func cond(kind string, status metav1.ConditionStatus, seconds int) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(at(seconds))}
}

// three is a cluster of one control-plane node and two workers, applied and no further.
func three(phase v1alpha1.Phase, changes ...func(*live.Cluster)) *live.Cluster {
	c := &live.Cluster{Claim: &live.Claim{Created: at(0), Spec: spec()}}
	c.Claim.Status.Phase, c.Claim.Status.Message = phase, "the sentence"
	for _, change := range changes {
		change(c)
	}
	return c
}

func spec() v1alpha1.ClusterClaimSpec {
	return v1alpha1.ClusterClaimSpec{Class: "kubeadm-1", Version: "v1.36.3", Network: "lan", Endpoint: "10.0.40.10",
		ControlPlane: v1alpha1.ControlPlane{Replicas: 1}, Workers: &v1alpha1.Workers{Replicas: 2}}
}

func object(c *live.Cluster) {
	c.Object = &live.Object{Created: at(1)}
	c.Claim.Status.Allocation = &v1alpha1.Allocation{VMIDs: v1alpha1.IDRange{Start: 20000, End: 20099}}
}

// story is made, changed and deleted, of which the agent has applied all but the deletion.
var story = []Commit{{"c3", "bob@pve", history.Deleted, false}, {"c2", "bob@pve", history.Changed, true}, {"c1", "alice@pve", history.Created, true}}

func begun(c *live.Cluster) { c.ControlPlane = &live.ControlPlane{Created: at(4)} }

func node(name string, plane bool, made, ready int) func(*live.Cluster) {
	return func(c *live.Cluster) {
		m := &live.Machine{Name: name, ControlPlane: plane, Created: at(made), Version: "v1.36.3", VM: &live.VM{ID: 2107, Node: "pve2"}}
		if ready > 0 {
			up := cond("InfrastructureReady", metav1.ConditionTrue, ready-2)
			joined := cond(clusterv1.MachineNodeReadyCondition, metav1.ConditionTrue, ready)
			m.Joined, m.Infrastructure, m.NodeReady = true, &up, &joined
		}
		c.Machines = append(c.Machines, m)
	}
}

func initialized(c *live.Cluster) {
	c.Object.Conditions = append(c.Object.Conditions, cond(clusterv1.ClusterControlPlaneInitializedCondition, metav1.ConditionTrue, 70))
}

func claimIs(kind string, status metav1.ConditionStatus, seconds int) func(*live.Cluster) {
	return func(c *live.Cluster) {
		c.Claim.Status.Conditions = append(c.Claim.Status.Conditions, cond(kind, status, seconds))
	}
}

// written writes steps as short lines: name, state, from second to second, message.
func written(steps []Step) []string {
	var lines []string
	second := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return t.Sub(at(0)).String()
	}
	for _, s := range steps {
		lines = append(lines, strings.TrimSpace(strings.Join([]string{s.Name + ": " + string(s.State), second(s.Started), second(s.Ended), s.Message, s.Commit, s.By}, " ")))
	}
	return lines
}

func TestStepsTellTheWay(t *testing.T) {
	for name, test := range map[string]struct {
		cluster *live.Cluster
		want    []string
	}{
		"nothing is known": {&live.Cluster{}, nil},
		"a claim that waits for addresses": {three(v1alpha1.PhasePending), []string{
			"Change accepted: current 0s - the sentence", "Own corner on Proxmox VE: todo - - Pool kubehenge/team-a.shop, user and token", "First VM: todo - -", "Kubernetes starts: todo - - v1.36.3, API at 10.0.40.10:6443",
			"Control-plane nodes: todo - - 0 of 1 ready", "Worker nodes: todo - - 0 of 2 ready", "Cluster available: todo - - 3 nodes in all"}},
		"the first VM is being cloned": {three(v1alpha1.PhaseProvisioning, object, begun, node("shop-cp-1", true, 6, 0)), []string{
			"Change accepted: done 0s 1s  c1 alice@pve", "Own corner on Proxmox VE: done 1s 4s Pool kubehenge/team-a.shop, user, token, VM IDs 20000 to 20099", "First VM: current 6s - shop-cp-1 waits for its VM to be cloned", "Kubernetes starts: todo - - v1.36.3, API at 10.0.40.10:6443",
			"Control-plane nodes: todo - - 0 of 1 ready", "Worker nodes: todo - - 0 of 2 ready", "Cluster available: todo - - 3 nodes in all"}},
		"the first VM cannot be built": {three(v1alpha1.PhaseError, object, begun, broken(node("shop-cp-1", true, 6, 0))), []string{
			"Change accepted: done 0s 1s  c1 alice@pve", "Own corner on Proxmox VE: done 1s 4s Pool kubehenge/team-a.shop, user, token, VM IDs 20000 to 20099", "First VM: failed 6s - shop-cp-1 cannot be built", "Kubernetes starts: todo - - v1.36.3, API at 10.0.40.10:6443",
			"Control-plane nodes: todo - - 0 of 1 ready", "Worker nodes: todo - - 0 of 2 ready", "Cluster available: todo - - 3 nodes in all"}},
		"the workers join": {three(v1alpha1.PhaseProvisioning, object, begun, node("shop-cp-1", true, 6, 72), initialized, node("w-1", false, 75, 120), node("w-2", false, 75, 0)), []string{
			"Change accepted: done 0s 1s  c1 alice@pve", "Own corner on Proxmox VE: done 1s 4s Pool kubehenge/team-a.shop, user, token, VM IDs 20000 to 20099", "First VM: done 6s 1m10s shop-cp-1, VM 2107 on pve2", "Kubernetes starts: done 1m10s 1m10s v1.36.3, API at 10.0.40.10:6443",
			"Control-plane nodes: done 1m10s 1m12s 1 of 1 ready", "Worker nodes: current 1m10s - 1 of 2 ready; w-2 waits for its VM to be cloned", "Cluster available: todo - - 3 nodes in all"}},
		"it runs": {three(v1alpha1.PhaseRunning, object, begun, node("shop-cp-1", true, 6, 72), initialized, node("w-1", false, 75, 120), node("w-2", false, 75, 130),
			claimIs(v1alpha1.ConditionAvailable, metav1.ConditionTrue, 71), claimIs(v1alpha1.ConditionUpToDate, metav1.ConditionTrue, 131)), []string{
			"Change accepted: done 0s 1s  c1 alice@pve", "Own corner on Proxmox VE: done 1s 4s Pool kubehenge/team-a.shop, user, token, VM IDs 20000 to 20099", "First VM: done 6s 1m10s shop-cp-1, VM 2107 on pve2", "Kubernetes starts: done 1m10s 1m10s v1.36.3, API at 10.0.40.10:6443",
			"Control-plane nodes: done 1m10s 1m12s 1 of 1 ready", "Worker nodes: done 1m10s 2m10s 2 of 2 ready", "Cluster available: done 2m10s 2m11s 3 nodes in all"}},
		"one of two workers is of the new version": {three(v1alpha1.PhaseUpdating, object, begun, node("shop-cp-1", true, 506, 572), initialized, node("w-1", false, 575, 620), drained(older(node("w-2", false, 75, 130))),
			claimIs(v1alpha1.ConditionUpToDate, metav1.ConditionFalse, 500), claimIs(v1alpha1.ConditionApplied, metav1.ConditionTrue, 1), claimIs(v1alpha1.ConditionAvailable, metav1.ConditionTrue, 131)), []string{
			"Change accepted: done 8m20s 8m20s  c2 bob@pve", "Control-plane nodes: done 8m20s 9m32s 1 of 1 done", "Worker nodes: current 8m20s - 1 of 2 done; w-2 is being drained", "Cluster available: todo - - 3 nodes in all"}},
		"one VM is left to delete": {three(v1alpha1.PhaseDeleting, object, func(c *live.Cluster) { c.Object.Leaving = at(900) }, node("w-1", false, 75, 120)), []string{
			"Change accepted: done 15m0s 15m0s  c3 bob@pve", "VMs deleted: current 15m0s - 1 left", "Cluster API clears up: todo - -", "Own corner removed: todo - -"}},
		"it is gone": {three(v1alpha1.PhaseDeleted), []string{
			"Change accepted: done - -  c3 bob@pve", "VMs deleted: done - -", "Cluster API clears up: done - -", "Own corner removed: done - -"}},
	} {
		s := spec()
		if d := cmp.Diff(test.want, written(stepsOf(way{Cluster: test.cluster, spec: &s, phase: phaseOf(test.cluster), pool: "kubehenge/team-a.shop", commits: story}))); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// older makes the machine one of the version before.
func older(add func(*live.Cluster)) func(*live.Cluster) {
	return func(c *live.Cluster) {
		add(c)
		c.Machines[len(c.Machines)-1].Version = "v1.36.2"
	}
}

// drained makes the machine one that leaves and is being emptied, broken one whose VM cannot be built.
func drained(add func(*live.Cluster)) func(*live.Cluster) {
	return func(c *live.Cluster) {
		add(c)
		m := c.Machines[len(c.Machines)-1]
		m.Leaving, m.Draining = at(600), true
	}
}

func broken(add func(*live.Cluster)) func(*live.Cluster) {
	return func(c *live.Cluster) {
		add(c)
		c.Machines[len(c.Machines)-1].VM.Provisioned = &metav1.Condition{Status: metav1.ConditionFalse, Reason: "VMProvisionFailed", Message: "595 No route to host"}
	}
}

func phaseOf(c *live.Cluster) v1alpha1.Phase {
	if c.Claim == nil {
		return Unknown
	}
	return c.Claim.Status.Phase
}
