package lab_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kubehenge.dev/api/v1alpha1"
	"kubehenge.dev/proxmox"
	"kubehenge.dev/proxmox/simulator"
)

func cornersAreMade(t *testing.T, w *world) {
	w.overlay(t, "team-a", "alpha", w.lab.Endpoint(0), 3, 1)
	w.overlay(t, "team-b", "beta", w.lab.Endpoint(1), 1, 1)
	w.applied(t, w.clone.push(t, "two clusters"))
	w.running(t, "team-a", "alpha", 4, creation)
	w.running(t, "team-b", "beta", 2, creation)
	nodes := map[string]bool{}
	for _, vm := range w.vms("team-a.alpha") {
		if strings.Contains(vm.Name, "-cp-") {
			nodes[vm.Node] = true
		}
	}
	if len(nodes) != 3 {
		t.Errorf("alpha's three control-plane VMs are on %d nodes", len(nodes))
	}
	if got := strings.Join(w.allowedNodes(t, "team-a", "alpha"), ","); got != "pve1,pve2,pve3" {
		t.Errorf("alpha's machines may be on %q", got)
	}
	until(t, time.Minute, "the control plane is in HA", func() string { return w.missingHA("team-a.alpha", 3) })
	secret := &corev1.Secret{}
	until(t, time.Minute, "the cluster has its token", func() string {
		c := kubeClient(t, w.fetchKubeconfig(t, "team-a", "alpha"))
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "proxmox-csi-config"}, secret); err != nil {
			return err.Error()
		}
		return ""
	})
	if !strings.Contains(string(secret.Data["config.yaml"]), v1alpha1.ClusterUser("team-a", "alpha")+"!") {
		t.Error("the cluster's configuration names another token")
	}
}

// vms are a cluster's machines in Proxmox VE, without the owner of its volumes.
func (w *world) vms(tag string) []simulator.VM {
	return slices.DeleteFunc(w.lab.Proxmox.Snapshot().VMs, func(vm simulator.VM) bool {
		return vm.Pool != "kubehenge/"+tag || slices.Contains(vm.Tags, v1alpha1.VolumesTag)
	})
}

// missingHA says what the cluster lacks in Proxmox VE's HA.
func (w *world) missingHA(tag string, machines int) string {
	inv := w.lab.Proxmox.Save()
	in := map[string]bool{}
	for _, r := range inv.HA.Resources {
		in[r.ID] = true
	}
	found := 0
	for _, vm := range w.vms(tag) {
		if in[fmt.Sprintf("vm:%d", vm.VMID)] {
			found++
		}
	}
	if found != machines {
		return fmt.Sprintf("%d of %d VMs of %s are in HA", found, machines, tag)
	}
	return ""
}

// allowedNodes is what the provider is told for the whole cluster.
func (w *world) allowedNodes(t *testing.T, namespace, name string) []string {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1alpha2")
	o.SetKind("ProxmoxCluster")
	if err := w.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		t.Fatal(err)
	}
	nodes, _, err := unstructured.NestedStringSlice(o.Object, "spec", "allowedNodes")
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

func meddlingIsPutBack(t *testing.T, w *world) {
	admin := w.admin(t)
	user, pool := v1alpha1.ClusterUser("team-b", "beta"), "kubehenge/team-b.beta"
	for _, meddle := range []struct {
		what string
		do   func() error
		told []string
	}{
		{"an ACL entry is removed", func() error {
			grants, err := admin.Accounts().Grants(t.Context())
			if err != nil {
				return err
			}
			at := slices.IndexFunc(grants, func(g proxmox.Grant) bool { return g.Path == "/pool/"+pool && g.Kind == proxmox.GrantToken })
			return admin.Accounts().RemoveGrant(t.Context(), grants[at])
		}, []string{"put back", "for token " + user}},
		{"the user is removed", func() error { return admin.Accounts().DeleteUser(t.Context(), user) }, []string{"put back", "user " + user}},
		{"the owner of the volumes is removed", func() error {
			task, err := admin.Changes().Delete(t.Context(), w.ownerVM(t, "team-b.beta").VMID)
			if err != nil {
				return err
			}
			_, err = admin.Tasks().Wait(t.Context(), task, nil)
			return err
		}, []string{"put back", v1alpha1.OwnerVMName("beta")}},
		{"the pool is emptied and removed", func() error {
			var all []int
			for _, vm := range w.lab.Proxmox.Snapshot().VMs {
				if vm.Pool == pool {
					all = append(all, vm.VMID)
				}
			}
			return errors.Join(admin.Memberships().Move(t.Context(), "kubehenge", all...), admin.Pools().Delete(t.Context(), pool))
		}, []string{"put back", "pool " + pool}},
	} {
		if err := meddle.do(); err != nil {
			t.Fatalf("%s: %v", meddle.what, err)
		}
		until(t, 2*time.Minute, meddle.what+", and it is put back", func() string {
			return strings.Join(w.cornerDifferences("team-b.beta"), "; ")
		})
		until(t, 30*time.Second, meddle.what+", and it is told", func() string { return w.untold(t, "team-b", "beta", meddle.told...) })
	}
}

// untold returns "" once an event at the claim holds the words.
func (w *world) untold(t *testing.T, namespace, name string, words ...string) string {
	t.Helper()
	events := &corev1.EventList{}
	if err := w.kube.List(t.Context(), events, client.InNamespace(namespace)); err != nil {
		return err.Error()
	}
	var all []string
	for _, e := range events.Items {
		if e.InvolvedObject.Name != name {
			continue
		}
		all = append(all, e.Reason+": "+e.Message)
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(e.Message, word) }) {
			return ""
		}
	}
	return strings.Join(all, "\n")
}

// ownerVM is the VM that owns a cluster's volumes.
func (w *world) ownerVM(t *testing.T, tag string) simulator.VM {
	t.Helper()
	for _, vm := range w.lab.Proxmox.Snapshot().VMs {
		if vm.Pool == "kubehenge/"+tag && slices.Contains(vm.Tags, v1alpha1.VolumesTag) {
			return vm
		}
	}
	t.Fatalf("%s has no VM that owns its volumes", tag)
	return simulator.VM{}
}

// strayIsTold moves a worker's VM into a pool that none of Kubehenge's tokens reaches.
func strayIsTold(t *testing.T, w *world) {
	admin := w.admin(t)
	if err := admin.Pools().Create(t.Context(), "elsewhere", ""); err != nil {
		t.Fatal(err)
	}
	machines := w.machineNames(t, "team-b", "beta")
	at := slices.IndexFunc(w.vms("team-b.beta"), func(vm simulator.VM) bool { return !strings.Contains(vm.Name, "-cp-") && vm.VMID != w.lost })
	if at < 0 {
		t.Fatal("beta has no worker")
	}
	worker := w.vms("team-b.beta")[at]
	if err := admin.Memberships().Move(t.Context(), "elsewhere", worker.VMID); err != nil {
		t.Fatal(err)
	}
	until(t, time.Minute, "the claim says that a VM is in no pool of Kubehenge's", func() string {
		message := w.claim(t, "team-b", "beta").Status.Message
		if strings.HasPrefix(message, fmt.Sprintf("VM %d (%s) is in no pool", worker.VMID, worker.Name)) &&
			strings.Contains(message, fmt.Sprintf("pveum pool modify kubehenge/team-b.beta --vms %d", worker.VMID)) {
			return ""
		}
		return message
	})
	if err := admin.Memberships().Move(t.Context(), "kubehenge/team-b.beta", worker.VMID); err != nil {
		t.Fatal(err)
	}
	if err := admin.Pools().Delete(t.Context(), "elsewhere"); err != nil {
		t.Fatal(err)
	}
	until(t, time.Minute, "the claim says nothing of it any more", func() string {
		if message := w.claim(t, "team-b", "beta").Status.Message; strings.Contains(message, "in no pool") {
			return message
		}
		return ""
	})
	w.running(t, "team-b", "beta", 2, time.Minute)
	if after := w.machineNames(t, "team-b", "beta"); !maps.Equal(machines, after) {
		t.Errorf("machines %v became %v", machines, after)
	}
}

// failedTasksAreReplaced lets the clone of a new machine fail, and the start of the one in its place.
func failedTasksAreReplaced(t *testing.T, w *world) {
	before := w.machineNames(t, "team-b", "beta")
	for _, f := range []struct{ path, exit string }{
		{`/clone$`, "can't lock file '/var/lock/qemu-server/lock-9000.conf' - got timeout"},
		{`/status/start$`, "start failed: QEMU exited with code 1"},
	} {
		defer w.lab.Proxmox.AddFault(simulator.Fault{Method: "POST", Path: f.path, Times: 1, TaskExit: f.exit})()
	}
	w.clone.replace(t, "clusters/team-b/beta/claim.yaml", "workers: {replicas: 1", "workers: {replicas: 2")
	w.applied(t, w.clone.push(t, "beta: two workers"))
	for _, failed := range []string{"can't lock file", "start failed"} {
		until(t, change, "a task ends with "+failed, func() string {
			for _, task := range w.lab.Proxmox.Snapshot().Tasks {
				if strings.HasPrefix(task.ExitStatus, failed) {
					return ""
				}
			}
			return w.claim(t, "team-b", "beta").Status.Message
		})
	}
	w.running(t, "team-b", "beta", 3, 2*change)
	after := w.machineNames(t, "team-b", "beta")
	for name := range before {
		if !after[name] {
			t.Errorf("machine %s was replaced, though nothing was wrong with it", name)
		}
	}
}

func (w *world) machineNames(t *testing.T, namespace, cluster string) map[string]bool {
	t.Helper()
	list := &clusterv1.MachineList{}
	if err := w.kube.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster}); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range list.Items {
		names[m.Name] = true
	}
	return names
}

func twoClustersRoll(t *testing.T, w *world) {
	w.lab.Proxmox.ForgetCalls()
	for _, path := range []string{"team-a/alpha", "team-b/beta"} {
		w.clone.replace(t, "clusters/"+path+"/claim.yaml", "version: v1.36.3", "version: v1.36.4")
	}
	w.applied(t, w.clone.push(t, "both clusters to the next version"))
	w.runs(t, "team-a", "alpha", "v1.36.4", 2*change)
	w.runs(t, "team-b", "beta", "v1.36.4", 2*change)
	given := map[string]string{}
	for _, c := range w.lab.Proxmox.Calls() {
		if c.Method != "POST" || !strings.HasSuffix(c.Path, "/clone") || c.Status != 200 {
			continue
		}
		id, pool := fmt.Sprint(c.Params["newid"]), fmt.Sprint(c.Params["pool"])
		if other, taken := given[id]; taken && other != pool {
			t.Errorf("VMID %s went to %s and to %s", id, other, pool)
		}
		given[id] = pool
	}
	if len(given) < 7 {
		t.Errorf("only %d machines were cloned for 7 nodes", len(given))
	}
}

// runs waits until all of a cluster's machines have a Kubernetes version and the claim is at rest.
func (w *world) runs(t *testing.T, namespace, name, version string, limit time.Duration) {
	t.Helper()
	until(t, limit, fmt.Sprintf("%s/%s runs %s", namespace, name, version), func() string {
		machines := &clusterv1.MachineList{}
		if err := w.kube.List(t.Context(), machines, client.InNamespace(namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: name}); err != nil {
			return err.Error()
		}
		for _, m := range machines.Items {
			if m.Spec.Version != version {
				return fmt.Sprintf("%s has %s: %s", m.Name, m.Spec.Version, w.claim(t, namespace, name).Status.Message)
			}
		}
		if s := w.claim(t, namespace, name).Status; s.Phase != v1alpha1.PhaseRunning {
			return fmt.Sprintf("%s: %s", s.Phase, s.Message)
		}
		return ""
	})
}

// nodeFails takes the node of one of alpha's control-plane VMs away until HA has moved the VM, and brings it back. What
// is in HA goes on elsewhere and is not replaced. Workers are not in HA: theirs stay off on a node that comes back, and
// Cluster API's health check replaces them after five minutes.
func nodeFails(t *testing.T, w *world) {
	before := w.machineNames(t, "team-a", "alpha")
	victim := w.away(t, "team-a.alpha")
	if err := w.lab.Proxmox.SetNodeOnline(victim.Node, false); err != nil {
		t.Fatal(err)
	}
	w.clone.replace(t, "clusters/team-b/beta/claim.yaml", "workers: {replicas: 2", "workers: {replicas: 3")
	w.applied(t, w.clone.push(t, "beta: three workers, while a node is away"))
	for _, wait := range []struct {
		what    string
		missing func() string
	}{
		{fmt.Sprintf("node %s takes no machine", victim.Node), func() string { return w.unlessAllowed(t, victim.Node, false) }},
		{"HA has moved the control-plane VMs", func() string { return w.controlPlaneOn("team-a.alpha", victim.Node) }},
		{"a machine is made on another node", func() string {
			if n := len(w.vms("team-b.beta")); n != 4 {
				return fmt.Sprintf("%d VMs", n)
			}
			return ""
		}},
	} {
		until(t, 4*time.Minute, wait.what, wait.missing)
	}
	if err := w.lab.Proxmox.SetNodeOnline(victim.Node, true); err != nil {
		t.Fatal(err)
	}
	if !t.Run("meanwhile a pool with VMs of an earlier management cluster is left alone", func(t *testing.T) { earlierClusterIsLeftAlone(t, w) }) {
		return
	}
	w.running(t, "team-a", "alpha", 4, 3*change)
	w.running(t, "team-b", "beta", 4, 3*change)
	until(t, 3*time.Minute, "all nodes take machines again", func() string { return w.unlessAllowed(t, victim.Node, true) })
	after := w.machineNames(t, "team-a", "alpha")
	for name := range before {
		if strings.Contains(name, "-cp-") && !after[name] {
			t.Errorf("machine %s was replaced because a node went and came", name)
		}
	}
}

// away is a control-plane VM on another node than the VM templates': those of a node that is off cannot be cloned.
func (w *world) away(t *testing.T, tag string) simulator.VM {
	t.Helper()
	templates := map[string]bool{}
	for _, vm := range w.lab.Proxmox.Snapshot().VMs {
		if vm.Template {
			templates[vm.Node] = true
		}
	}
	for _, vm := range w.vms(tag) {
		if strings.Contains(vm.Name, "-cp-") && !templates[vm.Node] {
			return vm
		}
	}
	t.Fatalf("all control-plane VMs of %s are beside the VM templates", tag)
	return simulator.VM{}
}

// unlessAllowed returns "" when the node is, or is not, among those of alpha.
func (w *world) unlessAllowed(t *testing.T, node string, allowed bool) string {
	t.Helper()
	nodes := w.allowedNodes(t, "team-a", "alpha")
	if slices.Contains(nodes, node) == allowed {
		return ""
	}
	return "alpha's machines may be on " + strings.Join(nodes, ",")
}

// controlPlaneOn returns "" when none of the cluster's control-plane VMs is on the node.
func (w *world) controlPlaneOn(tag, node string) string {
	for _, vm := range w.vms(tag) {
		if strings.Contains(vm.Name, "-cp-") && vm.Node == node {
			return vm.Name + " is still on " + vm.Node
		}
	}
	return ""
}

func movedMachinesAreDeleted(t *testing.T, w *world) {
	w.clone.replace(t, "clusters/team-a/alpha/claim.yaml", "controlPlane: {replicas: 3", "controlPlane: {replicas: 1")
	w.applied(t, w.clone.push(t, "alpha: one control-plane node"))
	w.running(t, "team-a", "alpha", 2, 2*change)
	until(t, time.Minute, "one control-plane VM is in HA", func() string { return w.missingHA("team-a.alpha", 1) })
}

// loseVM makes what a provider that lost its memory leaves behind; the agent speaks of it after some minutes.
func loseVM(t *testing.T, w *world) {
	admin := w.admin(t)
	w.lost = int(w.claim(t, "team-b", "beta").Status.Allocation.VMIDs.End) - 1
	task, err := admin.Changes().Create(t.Context(), "pve1", w.lost, proxmox.MachineConfig{
		"name": "beta-lost", "pool": "kubehenge/team-b.beta", "tags": "kubehenge;team-b.beta"})
	if err == nil {
		_, err = admin.Tasks().Wait(t.Context(), task, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func lostVMGoesByHand(t *testing.T, w *world) {
	id := fmt.Sprint(w.lost)
	until(t, 10*time.Minute, "the VM is told", func() string {
		message := w.claim(t, "team-b", "beta").Status.Message
		if strings.Contains(message, id) && strings.Contains(message, "kubehenge gc") {
			return ""
		}
		return message
	})
	w.kubehenge(t, "gc", "team-b/beta", "--confirm", id, "--kubeconfig", w.lab.Kubeconfig)
	w.lost = 0
}

func earlierClusterIsLeftAlone(t *testing.T, w *world) {
	admin := w.admin(t)
	if err := admin.Pools().Create(t.Context(), "kubehenge/team-c.old", ""); err != nil {
		t.Fatal(err)
	}
	const id = 30001
	task, err := admin.Changes().Create(t.Context(), "pve1", id, proxmox.MachineConfig{"name": "old-cp", "pool": "kubehenge/team-c.old"})
	if err == nil {
		_, err = admin.Tasks().Wait(t.Context(), task, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.overlay(t, "team-c", "old", w.lab.Endpoint(7), 1, 0)
	w.applied(t, w.clone.push(t, "a cluster whose name an earlier one had"))
	until(t, time.Minute, "the claim says why it waits", func() string {
		message := w.claim(t, "team-c", "old").Status.Message
		if strings.Contains(message, "1 VM of an earlier management cluster") {
			return ""
		}
		return message
	})
	if n := len(w.vms("team-c.old")); n != 1 {
		t.Errorf("the earlier cluster has %d VMs, not 1", n)
	}
	task, err = admin.Changes().Delete(t.Context(), id)
	if err == nil {
		_, err = admin.Tasks().Wait(t.Context(), task, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.running(t, "team-c", "old", 1, creation)
}

func cornersGo(t *testing.T, w *world) {
	for _, path := range []string{"team-a/alpha", "team-b/beta", "team-c/old"} {
		w.clone.replace(t, "clusters/"+path+"/claim.yaml", "spec:\n", "spec:\n  state: Deleted\n")
	}
	w.applied(t, w.clone.push(t, "all clusters are to go"))
	for _, c := range []client.ObjectKey{{Namespace: "team-a", Name: "alpha"}, {Namespace: "team-b", Name: "beta"}, {Namespace: "team-c", Name: "old"}} {
		until(t, 2*change, c.String()+" is deleted", func() string {
			s := w.claim(t, c.Namespace, c.Name).Status
			if s.Phase == v1alpha1.PhaseDeleted {
				return ""
			}
			return fmt.Sprintf("%s: %s", s.Phase, s.Message)
		})
	}
	inv := w.lab.Proxmox.Save()
	if len(inv.HA.Resources) > 0 || len(inv.HA.Rules) > 0 {
		t.Errorf("HA keeps %v and %v", inv.HA.Resources, inv.HA.Rules)
	}
}
