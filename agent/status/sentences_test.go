package status

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"kubehenge.dev/api/v1alpha1"
)

// Messages of capmox, Cluster API and Proxmox VE as they were recorded.
const (
	nodeUnknown    = "cannot find node with name pve9: 500 hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known"
	nodeOffline    = "cannot get nodes/pve2/status: 595 No route to host"
	noClone        = "403 Permission check failed (/vms/9000, VM.Clone)"
	noISO          = "unable to inject CloudInit ISO: unable to find the item you are looking for"
	noTemplateTags = "found 0 VM templates with tags \"[kubehenge kubeadm-v1.36.3]\""
	immutableDisk  = `error reconciling the Cluster topology: failed to create patch helper for ProxmoxMachineTemplate team-a/shop-24h7d: server side apply dry-run failed for modified object: ProxmoxMachineTemplate.infrastructure.cluster.x-k8s.io "shop-24h7d" is invalid: spec.template.spec.disks.bootVolume: Invalid value: Value is immutable`
	immutable      = `error reconciling the Cluster topology: failed to create patch helper for ProxmoxMachineTemplate team-a/shop-24h7d: server side apply dry-run failed for modified object: admission webhook "validation.proxmoxmachinetemplate.infrastructure.cluster.x-k8s.io" denied the request: ProxmoxMachineTemplate.infrastructure.cluster.x-k8s.io "shop-24h7d" is invalid: spec: Forbidden: ProxmoxMachineTemplate is immutable`
	endpointInside = `error reconciling the Cluster topology: failed to create ProxmoxCluster.infrastructure.cluster.x-k8s.io: admission webhook denied the request: spec: addresses may not contain the endpoint IP`
	webhookDown    = `failed to create KubeadmControlPlane: Internal error occurred: failed calling webhook "default.kubeadmcontrolplane.controlplane.cluster.x-k8s.io": connect: connection refused`
	noClass        = `error reading the ClusterClass: ClusterClass.cluster.x-k8s.io "kubeadm-1" not found`
	badMemory      = `failed to create ProxmoxMachineTemplate: ProxmoxMachineTemplate.infrastructure.cluster.x-k8s.io "shop-x" is invalid: spec.template.spec.memoryMiB: Invalid value: 255: spec.template.spec.memoryMiB in body should be a multiple of 8`
)

var sentences = map[string]struct {
	in    func(*Input)
	phase v1alpha1.Phase
}{
	// Before there is a Cluster.
	"Waiting to be applied": {noCluster, v1alpha1.PhasePending},
	"Waiting for addresses in Proxmox VE: network lan has no room since 12:03": {together(noCluster,
		stop(StepAllocation, Waiting, "AllocationFull", "Waiting for addresses in Proxmox VE: network lan has no room"), since1203(v1alpha1.ConditionAllocated, "AllocationFull")), v1alpha1.PhasePending},
	"Proxmox VE answers 595 for node pve2; trying again since 12:03": {together(noCluster,
		stop(StepAllocation, Transient, "ProxmoxVENodeOffline", "Proxmox VE answers 595 for node pve2"), since1203(v1alpha1.ConditionAllocated, "ProxmoxVENodeOffline")), v1alpha1.PhasePending},
	"Proxmox VE does not answer; trying again since 12:30": {together(noCluster,
		stop(StepAllocation, Transient, "ProxmoxVETransient", "Proxmox VE does not answer"), since1203(v1alpha1.ConditionAllocated, "AllocationFull")), v1alpha1.PhasePending},
	"The management cluster refuses this: spec.version: too old": {together(noCluster, stop(StepApply, Terminal, "Refused", "The management cluster refuses this: spec.version: too old")), v1alpha1.PhaseError},

	// Creation.
	"Waiting for Cluster API to make the first control-plane machine": {func(*Input) {}, v1alpha1.PhaseProvisioning},
	"0 of 3 control-plane VMs cloned; shop-cp-a waits for its network since 12:03": {
		machine("shop-cp-a", "", vmIs("WaitingForClusterInfrastructureReady", "")), v1alpha1.PhaseProvisioning},
	"0 of 3 control-plane VMs cloned; shop-cp-a is being cloned since 12:03": {machine("shop-cp-a", "", vmIs("Cloning", "")), v1alpha1.PhaseProvisioning},
	"1 of 3 control-plane VMs cloned; shop-cp-a waits for its address since 12:03": {
		machine("shop-cp-a", "", vmIs("WaitingForStaticIPAllocation", "")), v1alpha1.PhaseProvisioning},
	"2 of 3 control-plane VMs cloned; shop-cp-x7k2 waits for its boot since 12:03": {together(
		machine("shop-cp-a", "", ready), machine("shop-cp-x7k2", "", vmIs("WaitingForCloudInit", ""))), v1alpha1.PhaseProvisioning},
	"2 of 3 control-plane nodes ready; shop-cp-c waits to join the cluster since 12:03": {together(
		machine("shop-cp-a", "", ready), machine("shop-cp-b", "", ready), machine("shop-cp-c", "", vmIs("Provisioned", ""))), v1alpha1.PhaseProvisioning},
	"0 of 2 worker VMs cloned; shop-workers-a waits for the control plane since 12:03": {together(
		machine("shop-cp-a", "", ready), machine("shop-cp-b", "", ready), machine("shop-cp-c", "", ready),
		machine("shop-workers-a", "workers", vmIs("WaitingForBootstrapData", ""))), v1alpha1.PhaseProvisioning},
	"1 of 3 control-plane VMs cloned; shop-cp-b waits for its bootstrap data since 12:03": {together(
		machine("shop-cp-a", "", ready), machine("shop-cp-b", "", vmIs("WaitingForBootstrapData", ""))), v1alpha1.PhaseProvisioning},
	"1 of 2 worker nodes ready; shop-workers-b waits for its node to be ready since 12:03": {together(fiveReady,
		func(in *Input) {
			in.Machines, in.VMs = in.Machines[:4], in.VMs[:4]
			machine("shop-workers-b", "workers", node(metav1.ConditionFalse))(in)
		}), v1alpha1.PhaseProvisioning},
	"All 5 nodes are ready; waiting for the control plane to be available": {together(fiveReady,
		func(in *Input) { in.Cluster.Status.Conditions = nil }), v1alpha1.PhaseProvisioning},

	// What Proxmox VE and the provider say against a machine.
	"0 of 3 control-plane VMs cloned; shop-cp-a cannot be cloned: Proxmox VE answers 500 for node pve9 (hostname lookup 'pve9' failed - failed to get address info for: pve9: Name or service not known); trying again since 12:03": {
		machine("shop-cp-a", "", vmIs("CloningFailed", nodeUnknown)), v1alpha1.PhaseProvisioning},
	"0 of 3 control-plane VMs cloned; shop-cp-a is being cloned: Proxmox VE answers 595 for node pve2; trying again since 12:03": {
		machine("shop-cp-a", "", vmIs("Cloning", nodeOffline)), v1alpha1.PhaseProvisioning},
	"0 of 3 control-plane VMs cloned; shop-cp-a cannot be cloned: Proxmox VE refuses the provider's token VM.Clone on /vms/9000; trying again since 12:03": {
		machine("shop-cp-a", "", vmIs("CloningFailed", noClone)), v1alpha1.PhaseProvisioning},
	"0 of 3 control-plane VMs cloned; shop-cp-a cannot be cloned: exactly one VM template with the tags kubehenge kubeadm-v1.36.3 is needed in the template pool, which is not so; trying again since 12:03": {
		machine("shop-cp-a", "", vmIs("CloningFailed", noTemplateTags)), v1alpha1.PhaseProvisioning},
	"1 of 3 control-plane VMs cloned; shop-cp-a cannot be built: no storage takes its boot medium: one with content iso must be open to the provider's token": {
		machine("shop-cp-a", "", vmIs("VMProvisionFailed", noISO)), v1alpha1.PhaseError},

	// What Cluster API refuses.
	"capmox refuses the change of a machine template: its webhook was installed without the condition that lets Cluster API try one; run kubehenge capmox patch": {topology("ReconcileFailed", immutable), v1alpha1.PhaseError},
	"Cluster API exchanges a machine template; trying again": {topology("ReconcileFailed", `error reading the machine deployments: ProxmoxMachineTemplate.infrastructure.cluster.x-k8s.io "blog-workers-8txgl" not found`), v1alpha1.PhaseProvisioning},
	"capmox refuses another disk size: its kind ProxmoxMachineTemplate was installed with the rule that a boot volume never changes; run kubehenge capmox patch": {topology("ReconcileFailed", immutableDisk), v1alpha1.PhaseError},
	"The endpoint lies among the addresses of nodes; choose another endpoint":                                                                                    {topology("ReconcileFailed", endpointInside), v1alpha1.PhaseError},
	"Waits for the agent to see which Proxmox VE nodes are online": {topology("ClusterCreating",
		"Following hooks are blocking Cluster topology creation: BeforeClusterCreate: waits for the agent to see which Proxmox VE nodes are online"), v1alpha1.PhaseProvisioning},
	"No VM template carries the tags kubehenge and kubeadm-v1.36.9; there are templates of v1.36.3": {together(topology("ClusterUpgrading",
		"Cluster is upgrading to v1.36.9\n  * Following hooks are blocking upgrade: BeforeClusterUpgrade: No VM template carries the tags kubehenge and kubeadm-v1.36.9; there are templates of v1.36.3\n  * KubeadmControlPlane pending upgrade to version v1.36.9"),
		func(in *Input) {
			in.Notices = []Notice{{Kind: Waiting, Sentence: "No VM template carries the tags kubehenge and kubeadm-v1.36.9; there are templates of v1.36.3"}}
		}), v1alpha1.PhaseProvisioning},
	"Waits for the agent to list the Proxmox VE nodes that may take the cluster's machines": {topology("ReconcileFailed",
		`error computing the desired state of the Cluster topology: failed to generate patches for patch "nodes": failed to call extension handler "generate-patches.kubehenge": got failure response with message: waits for the agent to list the Proxmox VE nodes that may take the cluster's machines`), v1alpha1.PhaseProvisioning},
	"Machines of a/b may not go into the Proxmox VE pool x: it is not the cluster's own": {topology("ReconcileFailed",
		`failed to validate patch "nodes": failed to call extension handler "validate-topology.kubehenge": got failure response with message: machines of a/b may not go into the Proxmox VE pool x: it is not the cluster's own`), v1alpha1.PhaseError},
	"The agent's hooks do not answer Cluster API; trying again": {topology("ReconcileFailed",
		`failed to generate patches for patch "nodes": failed to call extension handler "generate-patches.kubehenge": http call failed: Post "https://127.0.0.1:19500/hooks": dial tcp 127.0.0.1:19500: connect: connection refused`), v1alpha1.PhaseProvisioning},
	"A webhook of Cluster API does not answer; trying again":                                                        {topology("ReconcileFailed", webhookDown), v1alpha1.PhaseProvisioning},
	"Waiting for class kubeadm-1 in the management cluster":                                                         {topology("ReconcileFailed", noClass), v1alpha1.PhaseProvisioning},
	"Waiting for Cluster API to read class kubeadm-1":                                                               {topology("ClusterClassNotReconciled", "x"), v1alpha1.PhaseProvisioning},
	"Cluster API cannot build the cluster as asked: spec.template.spec.memoryMiB in body should be a multiple of 8": {topology("ReconcileFailed", badMemory), v1alpha1.PhaseProvisioning},

	// What other parts of the agent have to say.
	"Running; 5 of 5 nodes ready; VM 20013 belongs to no machine: look at it, then run kubehenge gc team-a/shop since 12:03": {
		together(ranOnce, fiveReady, notice(Waiting, "VM 20013 belongs to no machine: look at it, then run kubehenge gc team-a/shop")), v1alpha1.PhaseRunning},
	"No node has room for a machine with 16 GiB; waiting for Cluster API to make the first control-plane machine": {
		notice(Terminal, "No node has room for a machine with 16 GiB"), v1alpha1.PhaseError},

	// Running and changing.
	"Running; 5 of 5 nodes ready": {fiveReady, v1alpha1.PhaseRunning},
	"Running; 4 of 5 nodes ready; shop-workers-b waits for its node to be ready since 12:03": {together(ranOnce, fiveReady, func(in *Input) {
		in.Machines, in.VMs = in.Machines[:4], in.VMs[:4]
		machine("shop-workers-b", "workers", node(metav1.ConditionFalse))(in)
	}), v1alpha1.PhaseRunning},
	"Running; 5 of 5 nodes ready; the control plane is not available": {together(ranOnce, fiveReady, func(in *Input) { in.Cluster.Status.Conditions = nil }), v1alpha1.PhaseRunning},
	"Changing machines: 5 of 7 nodes done; shop-workers-c waits for its boot since 12:03": {together(ranOnce, fiveReady,
		func(in *Input) { in.Claim.Spec.Workers.Replicas = 4 }, machine("shop-workers-c", "workers", vmIs("WaitingForCloudInit", ""))), v1alpha1.PhaseUpdating},
	"Scaling down: 1 too many; Cluster API changes the next machine": {together(ranOnce, fiveReady, func(in *Input) { in.Claim.Spec.Workers.Replicas = 1 }), v1alpha1.PhaseUpdating},
	"Scaling down: 1 too many; shop-workers-x is being drained since 12:03": {together(ranOnce, fiveReady, func(in *Input) {
		in.Claim.Spec.Workers.Replicas = 1
		in.Machines, in.VMs = in.Machines[:4], in.VMs[:4]
		machine("shop-workers-x", "workers", ready, leavingSince(clusterv1.MachineDeletingDrainingNodeReason))(in)
	}), v1alpha1.PhaseUpdating},
	"Replacing machines: 4 of 5 nodes done; Cluster API changes the next machine": {together(ranOnce, fiveReady, func(in *Input) {
		in.Machines, in.VMs = in.Machines[:4], in.VMs[:4]
		machine("shop-workers-b", "workers", ready, outdated)(in)
	}), v1alpha1.PhaseUpdating},
	"Upgrading to v1.36.4: 0 of 5 nodes done; Cluster API changes the next machine": {together(ranOnce, fiveReady, wantsVersion("v1.36.4")), v1alpha1.PhaseUpdating},
	"Upgrading to v1.36.4: 2 of 5 nodes done; shop-cp-d waits for its boot since 12:03": {together(ranOnce, wantsVersion("v1.36.4"), available,
		machine("shop-cp-a", "", ready, version("v1.36.4")), machine("shop-cp-b", "", ready, version("v1.36.4")), machine("shop-cp-c", "", ready),
		machine("shop-cp-d", "", vmIs("WaitingForCloudInit", ""), version("v1.36.4")),
		machine("shop-workers-a", "workers", ready), machine("shop-workers-b", "workers", ready)), v1alpha1.PhaseUpdating},
	"Running v1.36.4, which was raised by hand and cannot be lowered to Git's v1.36.3: commit it; 5 of 5 nodes ready": {together(ranOnce, func(in *Input) {
		in.RaisedVersion = "v1.36.4"
		for _, name := range []string{"shop-cp-a", "shop-cp-b", "shop-cp-c"} {
			machine(name, "", ready, version("v1.36.4"))(in)
		}
		machine("shop-workers-a", "workers", ready, version("v1.36.4"))(in)
		machine("shop-workers-b", "workers", ready, version("v1.36.4"))(in)
		available(in)
	}), v1alpha1.PhaseRunning},

	// Git.
	"clusters/team-a/shop/claim.yaml:7: spec.controlPlan: unknown field; the last good version stays in force (running; 5 of 5 nodes ready)": {together(ranOnce, fiveReady,
		func(in *Input) {
			in.Git.Problem = "clusters/team-a/shop/claim.yaml:7: spec.controlPlan: unknown field"
		}), v1alpha1.PhaseRunning},
	"Not in Git since 12:03 and kept: restore its folder, or commit state: Deleted there; running; 5 of 5 nodes ready": {together(ranOnce, fiveReady,
		since1203(v1alpha1.ConditionInGit, reasonVanished), func(in *Input) { in.Git.Presence = Vanished }), v1alpha1.PhaseRunning},
	"No overlay ever rendered this claim, so it is left alone: commit it to Git, or delete it here": {together(noCluster, func(in *Input) { in.Git.Presence = NeverInGit }), ""},

	// Deletion.
	"Deleting: 5 VMs left": {together(ranOnce, fiveReady, func(in *Input) { in.Life = Leaving }), v1alpha1.PhaseDeleting},
	"Deleting: 1 VM left": {together(ranOnce, func(in *Input) { in.Life, in.Now = Leaving, at.Add(20*time.Second) },
		machine("shop-cp-a", "", vmIs("DeletionFailed", ""), leavingSince("x"))), v1alpha1.PhaseDeleting},
	"Deleting: 1 VM left; shop-cp-a cannot be deleted: the Proxmox VE provider does not say why; trying again since 12:03": {together(ranOnce, func(in *Input) { in.Life = Leaving },
		machine("shop-cp-a", "", vmIs("DeletionFailed", ""), leavingSince("x"))), v1alpha1.PhaseDeleting},
	"Deleting: 1 VM left; shop-cp-a cannot be deleted: Proxmox VE answers 595 for node pve2; trying again since 12:03": {together(ranOnce, func(in *Input) { in.Life = Leaving },
		machine("shop-cp-a", "", vmIs("DeletionFailed", nodeOffline), leavingSince("x"))), v1alpha1.PhaseDeleting},
	"Deleting: the VMs are gone, Cluster API clears up":    {together(ranOnce, func(in *Input) { in.Life = Leaving }), v1alpha1.PhaseDeleting},
	"Deleting: waiting for Proxmox VE to show no VM of it": {together(ranOnce, noCluster, func(in *Input) { in.Life = Leaving }), v1alpha1.PhaseDeleting},
	"Deleting: pool kubehenge/team-a.shop still holds VM 20001 since 12:30; it is made anew afterwards, since Git asks for it again": {together(ranOnce, noCluster,
		stop(StepRelease, Waiting, "AllocationOccupied", "Pool kubehenge/team-a.shop still holds VM 20001"), func(in *Input) { in.Life, in.Git.WantsRunning = Leaving, true }), v1alpha1.PhaseDeleting},
	"Deleted: Proxmox VE shows no VM of it; its folder may be removed": {together(noCluster, func(in *Input) { in.Life = Gone }), v1alpha1.PhaseDeleted},

	// What stops the agent while a cluster runs.
	"The management cluster refuses this: version: too old": {together(ranOnce, fiveReady, stop(StepApply, Terminal, "Refused", "The management cluster refuses this: version: too old")), v1alpha1.PhaseRunning},
}

func TestEachStateHasItsSentence(t *testing.T) {
	for want, tc := range sentences {
		t.Run(want, func(t *testing.T) {
			got := Compute(input(tc.in))
			if got.Message != want {
				t.Errorf("\n got %q\nwant %q", got.Message, want)
			}
			if got.Phase != tc.phase {
				t.Errorf("phase is %s, want %s", got.Phase, tc.phase)
			}
		})
	}
}

func TestNoSentenceIsJargonOrEmpty(t *testing.T) {
	for want := range sentences {
		for _, jargon := range []string{"reconcile", "Reconcile", "nil", "%!"} {
			if strings.Contains(want, jargon) {
				t.Errorf("%q holds %q", want, jargon)
			}
		}
		if strings.HasSuffix(want, ".") {
			t.Errorf("%q ends with a full stop", want)
		}
	}
}

func TestEachRuleDecidesSomething(t *testing.T) {
	decided := map[string]bool{}
	for _, tc := range sentences {
		in := input(tc.in)
		v := &view{Input: &in, old: &in.Claim.Status, roster: newRoster(&in)}
		v.conditions = computeConditions(v)
		for _, r := range rules {
			if _, message := r.apply(v); message != "" {
				decided[r.name] = true
				break
			}
		}
	}
	for _, r := range rules {
		if !decided[r.name] {
			t.Errorf("no sentence comes from the rule %q", r.name)
		}
	}
}
