package status

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestASentenceIsTrueSinceItsMeaningBegan(t *testing.T) {
	began := metav1.NewTime(at)
	for name, test := range map[string]struct {
		was  string
		in   func(*Input)
		same bool
	}{
		"the same sentence":               {"Running; 5 of 5 nodes ready", together(ranOnce, fiveReady), true},
		"another count":                   {"Running; 4 of 5 nodes ready", together(ranOnce, fiveReady), true},
		"another count, and what it adds": {"Running; 4 of 5 nodes ready; shop-workers-b waits for its node to be ready since 12:03", together(ranOnce, fiveReady), false},
		"another time of a part": {"0 of 3 control-plane VMs cloned; shop-cp-a is being cloned since 29 Nov 23:59",
			machine("shop-cp-a", "", vmIs("Cloning", "")), true},
		"another stage":   {"0 of 3 control-plane VMs cloned; shop-cp-a waits for its network since 12:03", machine("shop-cp-a", "", vmIs("Cloning", "")), false},
		"another machine": {"0 of 3 control-plane VMs cloned; shop-cp-b is being cloned since 12:03", machine("shop-cp-a", "", vmIs("Cloning", "")), false},
		"another version": {"Upgrading to v1.36.2: 0 of 5 nodes done; Cluster API changes the next machine", together(ranOnce, fiveReady), false},
		"nothing yet":     {"", together(ranOnce, fiveReady), false},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(test.in)
			in.Claim.Status.Message, in.Claim.Status.Since = test.was, &began
			got := Compute(in)
			want := now
			if test.same {
				want = at
			}
			if got.Since == nil || !got.Since.Time.Equal(want) {
				t.Errorf("%q after %q is true since %s, want %s", got.Message, test.was, got.Since, want)
			}
		})
	}
}

func TestASentenceWithoutATimeGetsTheSecondInWhichItIsSeen(t *testing.T) {
	in := input(together(ranOnce, fiveReady))
	in.Claim.Status.Message, in.Now = "Running; 5 of 5 nodes ready", now.Add(300*time.Millisecond)
	if got := Compute(in); got.Since == nil || !got.Since.Time.Equal(now) {
		t.Errorf("true since %s", got.Since)
	}
}

func TestWhatIsMeantSurvivesWhatMoves(t *testing.T) {
	for a, b := range map[string]string{
		"Deleting: 1 VM left": "Deleting: 3 VMs left",
		"Scaling down: 1 too many; Cluster API changes the next machine":                               "Scaling down: 2 too many; Cluster API changes the next machine",
		"All 5 nodes are ready; waiting for the control plane to be available":                         "All 7 nodes are ready; waiting for the control plane to be available",
		"x; the last good version stays in force (all 5 nodes are ready)":                              "x; the last good version stays in force (all 6 nodes are ready)",
		"No node has room for a machine with 16 GiB: pve1 has 3 GiB free":                              "No node has room for a machine with 16 GiB: pve1 has 4 GiB free",
		"Not in Git since 12:03 and kept: restore its folder, or commit state: Deleted there; running": "Not in Git since 30 Nov 12:03 and kept: restore its folder, or commit state: Deleted there; running",
	} {
		if meaning(a) != meaning(b) {
			t.Errorf("%q and %q mean the same", a, b)
		}
	}
	for a, b := range map[string]string{
		"VM 20013 belongs to no machine":             "VM 20014 belongs to no machine",
		"No node has room for a machine with 16 GiB": "No node has room for a machine with 32 GiB",
		"Waiting for class kubeadm-1":                "Waiting for class kubeadm-2",
	} {
		if meaning(a) == meaning(b) {
			t.Errorf("%q and %q do not mean the same", a, b)
		}
	}
}
