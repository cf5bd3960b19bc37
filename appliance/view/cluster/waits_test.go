package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kubehenge.dev/agent/status"
	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/appliance/live"
)

func TestWhatMachinesWaitForIsKnownToOtherLanguages(t *testing.T) {
	for _, reason := range []string{
		"WaitingForClusterInfrastructureReady", "WaitingForBootstrapData", "Cloning", "WaitingForDiskReconciliation", "WaitingForStaticIPAllocation",
		"WaitingForBootstrapDataReconciliation", "WaitingForVMPowerUp", "WaitingForClusterAPIMachineAddresses", "WaitingForCloudInit", "WaitingForBootstrapReady",
		"CloningFailed", "TaskFailed", "PoweringOnFailed", "VMProvisionFailed", "DeletionFailed", "SomethingNew",
	} {
		stands := status.Stand(at(0), false, nil, &metav1.Condition{Status: metav1.ConditionFalse, Reason: reason})
		if s := waitsOf(stands); s.Code == "" {
			t.Errorf("%s: %q has no code", reason, s)
		}
		if stages[stands.Stage] == nil {
			t.Errorf("%s: the stage %q has no code", reason, stands.Stage)
		}
	}
	for name, stands := range map[string]status.Standing{
		"without a VM": status.Stand(at(0), false, nil, nil), "with a VM that runs": status.Stand(at(0), false, nil, &metav1.Condition{Status: metav1.ConditionTrue}),
		"with a node": status.Stand(at(0), true, &metav1.Condition{Status: metav1.ConditionFalse}, nil),
	} {
		if s := waitsOf(stands); s.Code == "" {
			t.Errorf("a machine %s: %q has no code", name, s)
		}
	}
}

func TestTheAgentsCommonSentencesAreKnownToOtherLanguages(t *testing.T) {
	for message, code := range map[string]string{
		"Running; 3 of 3 nodes ready": "cluster-runs", "Running; 3 of 3 nodes ready; shop-1 waits for its boot": "", "Waiting to be applied": "cluster-waits",
		"Deleted: Proxmox VE shows no VM of it; its folder may be removed": "cluster-gone", "Running; 2 of 3 nodes ready": "",
	} {
		claim := &live.Claim{Status: v1alpha1.ClusterClaimStatus{Message: message, Nodes: v1alpha1.NodeCount{Ready: 3, Wanted: 3}}}
		if s := ofAgent(claim); s.Code != code || s.String() != message {
			t.Errorf("%q is told as %q, %q", message, s.Code, s)
		}
	}
}
