package lab_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"kubehenge.dev/proxmox/simulator"
)

const blogClaim = "clusters/team-b/blog/claim.yaml"

// proxmoxFails lets Proxmox VE refuse and go silent by turns for a minute while a worker is asked for.
func proxmoxFails(t *testing.T, w *world) {
	end := time.Now().Add(time.Minute)
	w.lab.Proxmox.AddFault(simulator.Fault{Path: `^/nodes/pve2`, Status: 595, Reason: "No route to host", Until: end})
	w.lab.Proxmox.AddFault(simulator.Fault{Path: `^/(pools|cluster/resources|nodes/pve[13])`, Status: 500, Reason: "got timeout", Until: end})
	w.clone.replace(t, blogClaim, "workers: {replicas: 1", "workers: {replicas: 2")
	w.applied(t, w.clone.push(t, "blog: two workers, in bad weather"))
	until(t, time.Minute, "the sentence tells of Proxmox VE's answer", func() string {
		msg := w.claim(t, "team-b", "blog").Status.Message
		if strings.Contains(msg, "595") || strings.Contains(msg, "got timeout") {
			return ""
		}
		return msg
	})
	w.running(t, "team-b", "blog", 3, creation)
	w.clone.replace(t, blogClaim, "workers: {replicas: 2", "workers: {replicas: 1")
	w.applied(t, w.clone.push(t, "blog: one worker"))
	w.running(t, "team-b", "blog", 2, change)
}

// upgradeRollsOneByOne first takes out the patch of capmox's webhook and sees the upgrade held before it begins.
func upgradeRollsOneByOne(t *testing.T, w *world) {
	w.unpatchWebhook(t)
	w.clone.replace(t, shopClaim, "version: v1.36.3", "version: v1.36.4")
	w.applied(t, w.clone.push(t, "shop: Kubernetes v1.36.4"))
	until(t, time.Minute, "the claim tells what the upgrade waits for", func() string {
		msg := w.claim(t, "team-a", "shop").Status.Message
		if strings.Contains(msg, "aits for capmox to be patched so that the webhook lets") && strings.Contains(msg, "run kubehenge capmox patch") {
			return ""
		}
		return msg
	})
	if c := conditions.Get(w.cluster(t, "team-a", "shop"), clusterv1.ClusterTopologyReconciledCondition); c == nil || c.Reason == clusterv1.ClusterTopologyReconciledFailedReason {
		t.Errorf("the upgrade has begun and is stuck: %+v", c)
	}
	w.patchCapmox(t)
	most := w.watchMachines(t, "team-a", "shop")
	until(t, 2*change, "shop runs v1.36.4", func() string {
		s := w.claim(t, "team-a", "shop").Status
		if s.Version == "v1.36.4" && s.Phase == "Running" && s.Nodes.Ready == s.Nodes.Wanted && w.allAt(t, "v1.36.4") {
			return ""
		}
		return fmt.Sprintf("%s %s: %s", s.Phase, s.Version, s.Message)
	})
	if controlPlanes, workers := most(); controlPlanes > 4 || workers > 5 {
		t.Errorf("at once there were %d control-plane machines and %d workers; one more than wanted is allowed", controlPlanes, workers)
	}
}

func (w *world) allAt(t *testing.T, version string) bool {
	machines := &clusterv1.MachineList{}
	if err := w.kube.List(t.Context(), machines); err != nil {
		return false
	}
	for _, m := range machines.Items {
		if m.Spec.ClusterName == "shop" && m.Spec.Version != version {
			return false
		}
	}
	return true
}

func diskNeedsThePatchedRule(t *testing.T, w *world) {
	w.unpatchRule(t)
	before := w.cluster(t, "team-b", "blog").Generation
	w.clone.replace(t, blogClaim, "workers: {replicas: 1, size: small}", "workers: {replicas: 1, cpu: 2, memory: 4Gi, disk: 30Gi}")
	w.applied(t, w.clone.push(t, "blog: a larger disk"))
	until(t, time.Minute, "the claim tells what the larger disk waits for", func() string {
		msg := w.claim(t, "team-b", "blog").Status.Message
		if strings.Contains(msg, "aits for capmox to be patched so that the CRD lets") && strings.Contains(msg, "run kubehenge capmox patch") {
			return ""
		}
		return msg
	})
	if now := w.cluster(t, "team-b", "blog").Generation; now != before {
		t.Error("the Cluster was changed before capmox takes the change")
	}
	w.patchCapmox(t)
	until(t, change, "blog's worker has the larger disk", func() string {
		for _, vm := range w.lab.Proxmox.Snapshot().VMs {
			if vm.Pool == "kubehenge/team-b.blog" && strings.Contains(vm.Config["scsi0"], "size=30G") {
				return ""
			}
		}
		return w.claim(t, "team-b", "blog").Status.Message
	})
	w.running(t, "team-b", "blog", 2, change)
}
