package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
	"kubehenge.dev/render"
	"kubehenge.dev/render/plan"
)

var fleet = &v1alpha1.FleetSpec{Sizes: []v1alpha1.Size{{Name: "small", CPU: 2, Memory: "4Gi", Disk: "20Gi"}}}

func overlay(change func(*v1alpha1.ClusterClaimSpec)) Git {
	s := spec()
	s.ControlPlane.Size, s.Workers.Size = "small", "small"
	if change != nil {
		change(&s)
	}
	return Git{Overlay: &render.Overlay{Path: "clusters/team-a/shop", File: "clusters/team-a/shop/claim.yaml", Claim: &v1alpha1.ClusterClaim{Spec: s}}, Fleet: fleet}
}

func TestALineTellsWhatGitWantsAndWhatIs(t *testing.T) {
	live := three(v1alpha1.PhaseRunning, claimIs(v1alpha1.ConditionAvailable, metav1.ConditionTrue, 131)).Claim
	live.Status.Version, live.Status.Nodes.Ready = "v1.36.2", 3
	said := metav1.NewTime(at(140))
	live.Status.Since = &said
	got := Summarize("team-a", "shop", overlay(nil), live)
	if got.Phase != v1alpha1.PhaseRunning || got.Version != "v1.36.2" || got.WantedVersion != "v1.36.3" || got.Nodes != (Count{3, 3}) || !got.Since.Equal(at(131)) || !got.MessageSince.Equal(at(140)) || got.Message != "the sentence" {
		t.Errorf("%+v", got)
	}
}

func TestWithoutALiveClaimTheLineSaysWhy(t *testing.T) {
	broken := Git{Overlay: &render.Overlay{Path: "clusters/team-a/shop", Problems: []render.Problem{{Path: "clusters/team-a/shop/claim.yaml", Line: 7, Message: "unknown field"}}}, Fleet: fleet}
	for want, git := range map[string]Git{
		"clusters/team-a/shop/claim.yaml:7: unknown field":                                             broken,
		"In Git; the agent has not said anything of it yet":                                            overlay(nil),
		"Deleted in Git, and no live claim is known; its folder may be removed once the agent says so": overlay(func(s *v1alpha1.ClusterClaimSpec) { s.State = v1alpha1.StateDeleted }),
	} {
		got := Summarize("team-a", "shop", git, nil)
		if got.Phase != Unknown || got.Message != want || got.Since != nil || got.MessageSince != nil {
			t.Errorf("%s %q, want %q", got.Phase, got.Message, want)
		}
	}
}

func TestAClusterThatGitNoLongerHasIsShownAsItWasApplied(t *testing.T) {
	got := Describe("team-a", "shop", Git{Fleet: fleet}, three(v1alpha1.PhaseRunning, object), nil)
	if got.Path != "" || got.Spec != nil || got.WantedVersion != "v1.36.3" || got.Endpoint != "10.0.40.10" || got.Nodes.Wanted != 3 || len(got.Steps) == 0 {
		t.Errorf("%+v", got)
	}
}

func TestWhatGitWantsInAllIsCounted(t *testing.T) {
	const gi = 1 << 30
	got := Describe("team-a", "shop", overlay(nil), &live.Cluster{}, []string{"v1.36.4", "v1.37.0", "v1.35.9", "v1.38.0", "v1.36.4"})
	if d := cmp.Diff(plan.Need{VMs: 3, CPU: 6, MemoryBytes: 12 * gi, DiskBytes: 60 * gi}, got.Resources); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"v1.37.0", "v1.36.4"}, got.Upgrades); d != "" {
		t.Error(d)
	}
	if got.Events == nil || got.Steps == nil || got.NodesList == nil || got.Conditions == nil {
		t.Error("an empty list is null")
	}
}

func TestANodeSaysHowLargeItIs(t *testing.T) {
	const gi = 1 << 30
	made := live.VM{ID: 2107, CPU: 4, MemoryBytes: 8 * gi, DiskBytes: 40 * gi}
	machines := []*live.Machine{{Name: "shop-cp-1", ControlPlane: true, VM: &made}, {Name: "shop-w-1", Pool: "workers"}, {Name: "shop-x-1", Pool: "gone"}}
	got := Describe("team-a", "shop", overlay(nil), &live.Cluster{Machines: machines}, nil)
	for i, want := range []Node{{CPU: 4, MemoryBytes: 8 * gi, DiskBytes: 40 * gi}, {CPU: 2, MemoryBytes: 4 * gi, DiskBytes: 20 * gi}, {}} {
		if n := got.NodesList[i]; n.CPU != want.CPU || n.MemoryBytes != want.MemoryBytes || n.DiskBytes != want.DiskBytes {
			t.Errorf("%s has %d CPUs, %d of memory, %d of disk", n.Name, n.CPU, n.MemoryBytes, n.DiskBytes)
		}
	}
}

func TestANodeSaysHowFarItIs(t *testing.T) {
	provisioning := func(reason, message string) *live.VM {
		return &live.VM{ID: 2107, Node: "pve2", Provisioned: &metav1.Condition{Type: "VirtualMachineProvisioned", Status: "False", Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(at(8))}}
	}
	ready := three(v1alpha1.PhaseRunning, node("w-1", false, 75, 120)).Machines[0]
	leaving := *ready
	leaving.Leaving, leaving.Draining = at(300), true
	for name, test := range map[string]struct {
		machine        live.Machine
		phase, message string
		since          int
	}{
		"a machine without a VM":          {live.Machine{Created: at(5)}, "Waiting", "waits for its VM to be cloned", 5},
		"a VM that is cloned":             {live.Machine{VM: provisioning("Cloning", "")}, "Cloning", "is being cloned", 8},
		"a VM that boots":                 {live.Machine{VM: provisioning("WaitingForCloudInit", "")}, "Starting", "waits for its boot", 8},
		"a VM that cannot be built":       {live.Machine{VM: provisioning("VMProvisionFailed", "595 No route to host")}, "Failed", "cannot be built: Proxmox VE answers 595", 8},
		"a node that is ready":            {*ready, "Ready", "", 120},
		"a machine that is being drained": {leaving, "Deleting", "is being drained", 300},
	} {
		got := nodeOf(&test.machine)
		if got.Phase != test.phase || got.Message != test.message || !got.Since.Equal(at(test.since)) {
			t.Errorf("%s: %s, %q since %s", name, got.Phase, got.Message, got.Since)
		}
		if got.Ready != (test.phase == "Ready") {
			t.Errorf("%s: ready %t", name, got.Ready)
		}
	}
}
