package lab_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/lab"
	"kubehenge.dev/proxmox/simulator"
)

const proxmox8Index = 29

// The cluster of TestProxmox8: namespace and name have the 50 characters that they may have together.
const (
	eightNamespace = "department-of-geography"
	eightName      = "the-cluster-for-old-maps-25"
	eightTag       = eightNamespace + "." + eightName
	eightClaim     = "clusters/" + eightNamespace + "/" + eightName + "/claim.yaml"
)

// TestProxmox8 is a cluster on Proxmox VE 8.4, whose HA has groups in place of rules and whose privileges have other names,
// while one of its nodes burns down.
func TestProxmox8(t *testing.T) {
	t.Parallel()
	w := startWorld(t, lab.Options{Index: proxmox8Index, ProxmoxVersion: "8.4"})
	w.clone.replace(t, "clusters/fleet.yaml", "storages: [shared]", "ha: true\n    storages: [shared]")
	play(t, w, []scenario[*world]{
		{"a cluster with the longest name comes up, in an HA group of its nodes", longNameOnEight},
		{"a node is lost for good, and what was on it is made anew", nodeIsLost},
		{"deleting leaves no group behind", groupsGo},
	}, (*world).audit)
	w.nothingWasForbidden(t)
}

func longNameOnEight(t *testing.T, w *world) {
	w.overlay(t, eightNamespace, eightName, w.lab.Endpoint(0), 1, 2)
	w.clone.replace(t, eightClaim, "  network: lan\n", "  network: lan\n  nodes: [pve1, pve2]\n")
	w.applied(t, w.clone.push(t, "a cluster on two of three nodes"))
	w.running(t, eightNamespace, eightName, 3, creation)
	until(t, time.Minute, "the control plane is in HA", func() string { return w.missingHA(eightTag, 1) })
	until(t, time.Minute, "its group holds it on its nodes", func() string {
		groups := w.lab.Proxmox.Save().HA.Groups
		for id, options := range groups {
			if strings.HasPrefix(id, "kubehenge-nodes-") && options["nodes"] == "pve1,pve2" && options["restricted"] == "1" {
				return ""
			}
		}
		return fmt.Sprint(groups)
	})
	if rules := w.lab.Proxmox.Save().HA.Rules; len(rules) > 0 {
		t.Errorf("Proxmox VE 8.4 has the rules %v", rules)
	}
}

// nodeIsLost takes a worker's node away for good. A person deletes the worker's machine rather than wait the five minutes of
// the health check.
func nodeIsLost(t *testing.T, w *world) {
	victim := w.workerAway(t, eightTag)
	if err := w.lab.Proxmox.SetNodeOnline(victim.Node, false); err != nil {
		t.Fatal(err)
	}
	until(t, 4*time.Minute, "HA has moved the control-plane VM", func() string { return w.controlPlaneOn(eightTag, victim.Node) })
	w.deleteMachine(t, eightNamespace, victim.Name)
	until(t, 4*time.Minute, "the claim says what helps", func() string {
		message := w.claim(t, eightNamespace, eightName).Status.Message
		if strings.Contains(message, fmt.Sprintf("%s cannot be deleted while Proxmox VE node %s is offline", victim.Name, victim.Node)) {
			return ""
		}
		return message
	})
	if err := w.lab.Proxmox.RemoveNode(victim.Node); err != nil {
		t.Fatal(err)
	}
	for _, vm := range w.workersOn(eightTag, victim.Node) {
		t.Errorf("%s is still on the node that is gone", vm.Name)
	}
	until(t, 3*time.Minute, "the machine is let go", func() string {
		if w.machineNames(t, eightNamespace, eightName)[victim.Name] {
			return w.claim(t, eightNamespace, eightName).Status.Message
		}
		return ""
	})
	w.running(t, eightNamespace, eightName, 3, 3*change)
	for _, vm := range w.vms(eightTag) {
		if vm.Node != "pve1" && vm.Node != "pve2" {
			t.Errorf("%s is on %s, where the claim does not want it", vm.Name, vm.Node)
		}
	}
}

// workerAway is a worker's VM on another node than the VM templates'.
func (w *world) workerAway(t *testing.T, tag string) simulator.VM {
	t.Helper()
	for _, vm := range w.lab.Proxmox.Snapshot().VMs {
		if !vm.Template || len(w.workersOn(tag, vm.Node)) == 0 {
			continue
		}
		for _, other := range []string{"pve1", "pve2"} {
			if on := w.workersOn(tag, other); other != vm.Node && len(on) > 0 {
				return on[0]
			}
		}
	}
	t.Fatalf("the workers of %s are on one node", tag)
	return simulator.VM{}
}

func (w *world) workersOn(tag, node string) []simulator.VM {
	return slices.DeleteFunc(w.vms(tag), func(vm simulator.VM) bool { return vm.Node != node || strings.Contains(vm.Name, "-cp-") })
}

func (w *world) deleteMachine(t *testing.T, namespace, name string) {
	t.Helper()
	m := &clusterv1.Machine{}
	m.Namespace, m.Name = namespace, name
	if err := w.kube.Delete(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func groupsGo(t *testing.T, w *world) {
	w.clone.replace(t, eightClaim, "spec:\n", "spec:\n  state: Deleted\n")
	w.applied(t, w.clone.push(t, "the maps are in print again"))
	key := client.ObjectKey{Namespace: eightNamespace, Name: eightName}
	until(t, 2*change, key.String()+" is deleted", func() string {
		s := w.claim(t, key.Namespace, key.Name).Status
		if s.Phase == v1alpha1.PhaseDeleted {
			return ""
		}
		return fmt.Sprintf("%s: %s", s.Phase, s.Message)
	})
	if ha := w.lab.Proxmox.Save().HA; len(ha.Resources) > 0 || len(ha.Groups) > 0 {
		t.Errorf("HA keeps %v and %v", ha.Resources, ha.Groups)
	}
}
